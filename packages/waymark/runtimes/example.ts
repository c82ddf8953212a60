import assert from "node:assert/strict";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { installPacked } from "../test/support/packed.ts";
import { blocksOf } from "../test/support/pages.ts";
import { serveFunction } from "./lambda/function-url.ts";
import { linkBundler, waymark } from "./packed.ts";
import { PageCommands } from "./page-commands.ts";
import { serveFile, serveWorker, writeServer } from "./programs.ts";

type Settings = Readonly<Record<string, string>>;

export interface Example {
  /** The folder under `examples`. */
  readonly name: string;
  /** Settings on each runtime: the environment, or the bindings of a worker. */
  readonly settings: Settings;
  /** Settings that save the tests time. */
  readonly faster?: Settings;
  /** The setting that names the file of the database. */
  readonly database: string;
  /** The kinds of Lambda functions that it runs as: with whole answers, with streamed ones, or with both. */
  readonly lambda: readonly ("lambda" | "lambda-stream")[];
  /** Whether the README has a command for each runtime, as below. */
  readonly isDocumented?: boolean;
  readonly scenario: (served: { url: string }) => readonly (readonly [string, () => Promise<void>])[];
}

interface Served {
  readonly url: string;
  stop(): Promise<unknown>;
}

type Ways = Readonly<Record<string, () => Promise<Served>>>;

/** Runs the scenario of an example on each runtime, as source and as a bundle. */
export async function testExample(example: Example): Promise<void> {
  const { name, settings, faster = {}, database, lambda, isDocumented = false, scenario } = example;
  const folder = await installPacked("waymark");
  linkBundler(folder);
  cpSync(fileURLToPath(new URL(`../../../examples/${name}`, import.meta.url)), folder, {
    recursive: true,
    filter: (path) => !/node_modules|\.test\.ts$|\.sqlite/.test(path),
  });
  await waymark(folder, "build");
  let stores = 0;
  const ownDatabase = () => ({ ...faster, [database]: join(folder, `${++stores}.sqlite`) });
  const environment = () => ({ ...settings, ...ownDatabase() });
  const bundle = async (target: string) => {
    const file = join(folder, `bundle-${target}.mjs`);
    await waymark(folder, "build", "--app=app.ts", `--target=${target}`, `--out=${file}`);
    return file;
  };
  const sources: Ways = {
    "node, source": () => serveFile("node", writeServer(folder, "node"), environment()),
    "bun, source": () => serveFile("bun", writeServer(folder, "bun"), environment()),
    "deno, source": () => serveFile("deno", writeServer(folder, "deno"), environment()),
    "workerd, bundle, oldest date": async () =>
      serveWorker(await bundle("worker"), { bindings: { ...settings, ...faster }, date: "oldest" }),
  };
  const bundles: Ways = {
    "node, bundle": async () => serveFile("node", await bundle("node"), environment()),
    "bun, bundle": async () => serveFile("bun", await bundle("bun"), environment()),
    "deno, bundle": async () => serveFile("deno", await bundle("deno"), environment()),
    "workerd, bundle": async () =>
      serveWorker(await bundle("worker"), { bindings: { ...settings, ...faster } }),
    // All environments of a function share the database.
    ...Object.fromEntries(
      lambda.map((target) => [
        `${target}, bundle`,
        async () => serveFunction(await bundle(target), environment()),
      ]),
    ),
  };
  const ways = { ...sources, ...(isDocumented ? documented(folder, ownDatabase, settings) : bundles) };
  for (const [way, serve] of Object.entries(ways))
    test(way, async (context) => {
      const served = await serve();
      for (const [step, run] of scenario({ url: served.url })) await context.test(step, run);
      await served.stop();
    });
}

/**
 * The commands of the README that build and serve a bundle: a block of commands for each runtime, with the settings that the
 * README gives. The block for Lambda only builds, because uploading needs an account.
 */
function documented(folder: string, ownDatabase: () => Settings, settings: Settings): Ways {
  const commands = new PageCommands(folder);
  const ways: Record<string, () => Promise<Served>> = {};
  for (const block of blocksOf(readFileSync(join(folder, "README.md"), "utf8"))) {
    if (block.info === "worker.capnp") commands.write(block);
    if (block.language !== "console" || block.info === "") continue;
    ways[`${block.info}, README.md, line ${block.line}`] = async () => {
      const server = await commands.run(block, ownDatabase());
      if (server !== undefined) return { url: `http://127.0.0.1:${server.port}`, stop: server.stop };
      return serveFunction(join(folder, "dist", "index.mjs"), { ...settings, ...ownDatabase() });
    };
  }
  const runtimes = Object.keys(ways).map((way) => way.slice(0, way.indexOf(",")));
  assert.deepEqual(runtimes.sort(), ["bun", "deno", "lambda", "node", "workerd"]);
  return ways;
}
