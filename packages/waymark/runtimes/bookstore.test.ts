/** The bookstore on each runtime, as source and as a bundle: what its own test runs without a socket. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { scenario } from "../../../examples/bookstore/scenario.ts";
import { installPacked } from "../test/support/packed.ts";
import { linkBundler, waymark } from "./packed.ts";
import { type Program, serveFile, serveWorker, writeServer } from "./programs.ts";

const folder = await installPacked("waymark");
linkBundler(folder);
cpSync(fileURLToPath(new URL("../../../examples/bookstore", import.meta.url)), folder, {
  recursive: true,
  filter: (path) => !/node_modules|\.test\.ts$|\.sqlite$/.test(path),
});
await waymark(folder, "build");

const TOKEN = { BOOKSTORE_TOKEN: "secret" };
let stores = 0;

function environment(): Record<string, string> {
  return { ...TOKEN, BOOKSTORE_DB: join(folder, `${++stores}.sqlite`) };
}

async function bundle(target: string): Promise<string> {
  const file = join(folder, `book-${target}.mjs`);
  await waymark(folder, "build", "--app=app.ts", `--target=${target}`, `--out=${file}`);
  return file;
}

const WAYS: Readonly<Record<string, () => Promise<Program>>> = {
  "node, source": () => serveFile("node", writeServer(folder, "node"), environment()),
  "node, bundle": async () => serveFile("node", await bundle("node"), environment()),
  "bun, source": () => serveFile("bun", writeServer(folder, "bun"), environment()),
  "bun, bundle": async () => serveFile("bun", await bundle("bun"), environment()),
  "deno, source": () => serveFile("deno", writeServer(folder, "deno"), environment()),
  "deno, bundle": async () => serveFile("deno", await bundle("deno"), environment()),
  // Without the modules of Node.
  "workerd, bundle": async () => serveWorker(await bundle("worker"), { bindings: TOKEN }),
};

for (const [way, serve] of Object.entries(WAYS))
  test(way, async (context) => {
    const program = await serve();
    for (const [name, run] of scenario({ url: program.url })) await context.test(name, run);
    await program.stop();
  });
