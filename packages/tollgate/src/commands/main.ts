import { readVersion } from "../installation.ts";
import { type CommandIo, processIo } from "./io.ts";

type Command = (argv: readonly string[], io: CommandIo) => number | Promise<number>;

/** Commands are loaded on demand, so that each starts without the dependencies of the others. */
const commands: Record<string, () => Promise<Command>> = {
  serve: async () => {
    // Listens before the service's code is loaded, so that no signal is lost.
    const signals = new (await import("./signals.ts")).Signals();
    const { runServe } = await import("./serve.ts");
    return (argv, io) => runServe(argv, io, signals);
  },
  client: async () => (await import("./client.ts")).runClient,
  check: async () => (await import("./check.ts")).runCheck,
  explain: async () => (await import("./explain.ts")).runExplain,
  init: async () => (await import("./init.ts")).runInit,
  test: async () => (await import("./test.ts")).runTest,
  diff: async () => (await import("./diff.ts")).runDiff,
  replay: async () => (await import("./replay.ts")).runReplay,
  counters: async () => (await import("./admin.ts")).runCounters,
  overrides: async () => (await import("./admin.ts")).runOverrides,
  audit: async () => (await import("./admin.ts")).runAudit,
  completion: async () => (await import("./information.ts")).runCompletion,
  man: async () => (await import("./information.ts")).runMan,
  help: async () => (await import("./information.ts")).runHelp,
};

/** Runs the command line. Resolves with the exit status; 2 for an unknown command. */
export async function main(argv: readonly string[]): Promise<number> {
  const io = processIo();
  const [first = "serve", ...rest] = argv;
  if (first === "--version" || first === "-v" || first === "-version" || first === "version") {
    io.stdout.write(`tollgate ${readVersion()}\n`);
    return 0;
  }
  const [name, args] = commandOf(first, rest);
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load === undefined) return (await import("./information.ts")).unknownCommand(name, io);
  if (name !== "serve" && process.pid === 1) endBySignal();
  const command = await load();
  return command(args, io);
}

function commandOf(first: string, rest: readonly string[]): [name: string, args: readonly string[]] {
  if (first === "--help" || first === "-h" || first === "-help") return ["help", []];
  // `tollgate --example` means `tollgate serve --example`.
  return first.startsWith("-") ? ["serve", [first, ...rest]] : [first, rest];
}

/** The kernel ignores signals to process 1, as in a container, unless the process handles them. */
function endBySignal(): void {
  process.on("SIGINT", () => process.exit(130));
  process.on("SIGTERM", () => process.exit(143));
}
