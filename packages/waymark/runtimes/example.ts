import { cpSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { installPacked } from "../test/support/packed.ts";
import { serveFunction } from "./lambda/function-url.ts";
import { linkBundler, waymark } from "./packed.ts";
import { type Program, serveFile, serveWorker, writeServer } from "./programs.ts";

export interface Example {
  /** The folder under `examples`. */
  readonly name: string;
  /** Settings on each runtime: the environment, or the bindings of a worker. */
  readonly settings: Readonly<Record<string, string>>;
  /** The setting that names the file of the database. */
  readonly database: string;
  /** The kinds of Lambda functions that it runs as: with whole answers, with streamed ones, or with both. */
  readonly lambda: readonly ("lambda" | "lambda-stream")[];
  readonly scenario: (served: { url: string }) => readonly (readonly [string, () => Promise<void>])[];
}

/** Runs the scenario of an example on each runtime, as source and as a bundle. */
export async function testExample(example: Example): Promise<void> {
  const { name, settings, database, lambda, scenario } = example;
  const folder = await installPacked("waymark");
  linkBundler(folder);
  cpSync(fileURLToPath(new URL(`../../../examples/${name}`, import.meta.url)), folder, {
    recursive: true,
    filter: (path) => !/node_modules|\.test\.ts$|\.sqlite/.test(path),
  });
  await waymark(folder, "build");
  let stores = 0;
  const environment = () => ({ ...settings, [database]: join(folder, `${++stores}.sqlite`) });
  const bundle = async (target: string) => {
    const file = join(folder, `bundle-${target}.mjs`);
    await waymark(folder, "build", "--app=app.ts", `--target=${target}`, `--out=${file}`);
    return file;
  };
  const ways: Readonly<Record<string, () => Promise<Program>>> = {
    "node, source": () => serveFile("node", writeServer(folder, "node"), environment()),
    "node, bundle": async () => serveFile("node", await bundle("node"), environment()),
    "bun, source": () => serveFile("bun", writeServer(folder, "bun"), environment()),
    "bun, bundle": async () => serveFile("bun", await bundle("bun"), environment()),
    "deno, source": () => serveFile("deno", writeServer(folder, "deno"), environment()),
    "deno, bundle": async () => serveFile("deno", await bundle("deno"), environment()),
    "workerd, bundle": async () => serveWorker(await bundle("worker"), { bindings: settings }),
    "workerd, bundle, oldest date": async () =>
      serveWorker(await bundle("worker"), { bindings: settings, date: "oldest" }),
    // All environments of a function share the database.
    ...Object.fromEntries(
      lambda.map((target) => [
        `${target}, bundle`,
        async () => serveFunction(await bundle(target), environment()),
      ]),
    ),
  };
  for (const [way, serve] of Object.entries(ways))
    test(way, async (context) => {
      const program = await serve();
      for (const [step, run] of scenario({ url: program.url })) await context.test(step, run);
      await program.stop();
    });
}
