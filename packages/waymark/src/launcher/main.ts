import cluster from "node:cluster";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Arguments, readArguments, USAGE } from "./arguments.ts";
import { withFrame } from "./code-frame.ts";
import { exitStatusOf, faultText } from "./launcher-error.ts";
import { withPage } from "./manual-pages.ts";
import { WATCHED } from "./watch/messages.ts";

/** The command `waymark`. Resolves with its exit status. */
export async function main(args: readonly string[]): Promise<number> {
  let debug = args.includes("--debug");
  try {
    const read = readArguments(args, process.env);
    debug = read.debug;
    return await run(read);
  } catch (error) {
    const text = faultText(error, debug);
    // A Python server logs what the bridge prints, and expects one line.
    const shown = args[0] === "bridge" ? text : withPage(withFrame(text), error);
    if (WATCHED in process.env) {
      const { tellFault, tellFiles } = await import("./watch/watched.ts");
      if (cluster.isWorker) tellFiles();
      else tellFault(text);
    }
    if (cluster.isWorker) {
      const { tellParent } = await import("./workers.ts");
      await tellParent({ failed: shown, status: exitStatusOf(error) });
    } else console.error(shown);
    return exitStatusOf(error);
  }
}

async function run(args: Arguments): Promise<number> {
  if (args.help) return print(`${USAGE}\n`);
  if (args.version) return print(`${packageVersion()}\n`);
  if (args.command === "python-path")
    return print(`${fileURLToPath(new URL("../../python", import.meta.url))}\n`);
  if (args.command === "routes") return (await import("./routes-command.ts")).routes(args);
  if (args.command === "openapi") return (await import("./openapi-command.ts")).openapi(args);
  if (args.command === "types") return (await import("./types-command.ts")).types(args);
  if (args.command === "bridge") return (await import("./bridge-command.ts")).bridge(args);
  if (args.command === "check") return (await import("./check-command.ts")).check(args);
  if (args.command === "build") return (await import("./build-command.ts")).build(args);
  if (args.watch && !(WATCHED in process.env)) return (await import("./watch-command.ts")).serveWatched(args);
  const { serve } = await import("./serve-command.ts");
  if (cluster.isWorker) {
    const { tellParent } = await import("./workers.ts");
    return serve(args, (ready) => void tellParent({ ready }));
  }
  if (args.workers > 1) return (await import("./workers.ts")).serveWithWorkers(args.workers, print);
  return serve(args, print);
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

function packageVersion(): string {
  const url = new URL("../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(url, "utf8")) as { version: string }).version;
}
