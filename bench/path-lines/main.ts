/**
 * `npm run bench -- path-lines [FOLDER] [--files]`: the lines of code of the path of a call, in this checkout or another one.
 * A module is on the path if a function of it runs in the calls of a gateway, embedded or over Redis. "Run" are the lines
 * that run at least 10 times in 1,000 calls of 20 reads, so a timer that fires meanwhile does not count. Neither counts
 * comments and blank lines. With `--files`, it lists each module.
 */
import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { table } from "../support/figures.ts";
import { startRedis } from "../support/redis.ts";
import { codeLines } from "./code-lines.ts";

/** The parts of the path, by the start of a module's name. The first match counts. */
const parts: readonly (readonly [name: string, start: string])[] = [
  ["grpc-wire", "grpc-wire/src/"],
  ["rules: the lookup", "tollgate/src/rules/"],
  ["counters in Redis, failure policy", "tollgate/src/counters/kvstore/"],
  ["counters in Redis, failure policy", "tollgate/src/counters/transport/"],
  ["counters in Redis, failure policy", "tollgate/src/counters/fail"],
  ["counters in Redis, failure policy", "tollgate/src/counters/circuit-breaker.ts"],
  ["counters in Redis, failure policy", "tollgate/src/counters/hold-back.ts"],
  ["counters in Redis, failure policy", "tollgate/src/counters/count-together.ts"],
  ["embedded counters, the interface of stores", "tollgate/src/counters/"],
  ["protocol, decision, listeners, statistics", "tollgate/src/"],
];

/** Module -> the numbers of the lines that run. */
type Run = Map<string, Set<number>>;

export async function main(args: string[]): Promise<void> {
  const options = { files: { type: "boolean" } } as const;
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
  const folder = resolve(positionals[0] ?? join(import.meta.dirname, "../.."));
  const embedded = runLines(folder, "tollgate");
  const redis = await startRedis();
  const overRedis = runLines(folder, "redis", redis.url);
  await redis.stop();
  const modules = [...new Set([...embedded.keys(), ...overRedis.keys()])].sort();
  const figures = modules.map((module) => {
    const ofEmbedded = embedded.get(module) ?? new Set();
    const ofRedis = overRedis.get(module) ?? new Set();
    const part = parts.find(([, start]) => module.startsWith(start))?.[0] ?? "other";
    const lines = codeLines(join(folder, "packages", module)).size;
    return {
      module,
      part,
      lines,
      embedded: ofEmbedded.size,
      redis: ofRedis.size,
      run: ofEmbedded.union(ofRedis).size,
    };
  });
  const row = (name: string, of: typeof figures) => {
    const sum = (figure: "lines" | "run" | "embedded" | "redis") =>
      of.reduce((total, module) => total + module[figure], 0);
    return [name, of.length, sum("lines"), sum("run"), sum("embedded"), sum("redis")];
  };
  const groups = values.files
    ? Map.groupBy(figures, ({ module }) => module)
    : Map.groupBy(figures, ({ part }) => part);
  const rows = [...groups].map(([name, of]) => row(name, of));
  const head = ["part of the path", "modules", "lines", "run", "run embedded", "run over Redis"];
  console.log(table(head, [...rows, row("all", figures)]));
}

/** Returns the lines of three runs: the embedded store's random hash decides which lines run rarely. */
function runLines(folder: string, variant: "tollgate" | "redis", url?: string): Run {
  const all: Run = new Map();
  for (let run = 0; run < 3; run++)
    for (const [module, lines] of runOnce(folder, variant, url))
      all.set(module, lines.union(all.get(module) ?? new Set()));
  return all;
}

/** Runs the calls in a process of their own, without a compiler. */
function runOnce(folder: string, variant: "tollgate" | "redis", url?: string): Run {
  const script = join(import.meta.dirname, "covered-process.ts");
  const output = execFileSync(
    process.execPath,
    ["--no-opt", "--no-maglev", "--no-sparkplug", script, folder, variant],
    {
      encoding: "utf8",
      env: { ...process.env, BENCH_REDIS: url },
    },
  );
  const lines = JSON.parse(output) as Record<string, number[]>;
  return new Map(Object.entries(lines).map(([module, numbers]) => [module, new Set(numbers)]));
}
