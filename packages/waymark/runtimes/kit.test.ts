/** The parts of the kit on each runtime, as source and as a bundle. */
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { command, installPacked } from "../test/support/packed.ts";
import { asker, kitCases } from "./kit/cases.ts";
import { serveFunction } from "./lambda/function-url.ts";
import { linkBundler, MODULES, waymark } from "./packed.ts";
import { type Program, type RuntimeName, serveFile, serveWorker, writeServer } from "./programs.ts";

const folder = await installPacked("waymark");
linkBundler(folder);
for (const name of ["jose", "@opentelemetry/api"]) {
  const link = join(folder, "node_modules", name);
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(join(MODULES, name), link);
}
cpSync(fileURLToPath(new URL("kit", import.meta.url)), folder, {
  recursive: true,
  filter: (path) => !path.endsWith("cases.ts"),
});
mkdirSync(join(folder, "public"));
writeFileSync(join(folder, "public", "hello.txt"), "hello world\n");
await command(folder, "npm", "pkg", "set", "type=module");
await waymark(folder, "build", "--prefix=controllers", "--prefix=disk");

async function bundle(target: string, app = "app-disk.ts"): Promise<string> {
  const file = join(folder, `kit-${target}.mjs`);
  await waymark(folder, "build", `--app=${app}`, `--target=${target}`, `--out=${file}`);
  return file;
}

const source = (runtime: "node" | "bun" | "deno") => () =>
  serveFile(runtime, writeServer(folder, runtime, "app-disk.ts"));

const WAYS: Readonly<Record<string, () => Promise<Program>>> = {
  "node, source": source("node"),
  "node, bundle": async () => serveFile("node", await bundle("node")),
  "bun, source": source("bun"),
  "bun, bundle": async () => serveFile("bun", await bundle("bun")),
  "deno, source": source("deno"),
  "deno, bundle": async () => serveFile("deno", await bundle("deno")),
  "workerd, bundle": async () => serveWorker(await bundle("worker", "app.ts")),
  "workerd, bundle, oldest date": async () =>
    serveWorker(await bundle("worker", "app.ts"), { date: "oldest" }),
  "lambda, bundle": async () => serveFunction(await bundle("lambda-stream")),
};

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await setTimeout(10);
}

for (const [way, serve] of Object.entries(WAYS)) {
  const name = way.split(",")[0] as RuntimeName;
  test(way, async (context) => {
    const { url, printed, stop } = await serve();
    const isWorker = name === "workerd";
    const isSecure = name === "lambda";
    const cases = kitCases({
      ask: asker(url),
      printed,
      // A worker has Brotli where it has the modules of Node.
      hasBrotli: !way.endsWith("oldest date"),
      hasFiles: !isWorker,
      isSecure,
      until,
    });
    for (const [each, run] of cases) await context.test(each, run);
    await stop();
  });
}
