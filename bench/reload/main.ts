/**
 * `npm run bench -- reload`: how long a reload holds the thread that decides. A loop of immediates measures the longest
 * time between two turns of the event loop, and the most CPU that the thread used in one turn, during reloads and for as
 * long without them. On a busy machine only the CPU says what the reload takes. The baseline is the same load in this
 * thread, which holds it for all of its time.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LoadLog } from "../../packages/tollgate/src/dashboard/load-log.ts";
import { COMPILER_THREAD } from "../../packages/tollgate/src/installation.ts";
import { createLogger } from "../../packages/tollgate/src/observe/log.ts";
import { createStatistics } from "../../packages/tollgate/src/observe/registry.ts";
import { loadRules } from "../../packages/tollgate/src/rules/load-rules.ts";
import { ActiveRules } from "../../packages/tollgate/src/service/active-rules.ts";
import { FileSource } from "../../packages/tollgate/src/sources/files.ts";
import { RuleCompiler } from "../../packages/tollgate/src/sources/rule-compiler.ts";
import { threadMicroseconds } from "../support/cpu-time.ts";
import { median, table } from "../support/figures.ts";
import { rulesYaml } from "../support/rules-yaml.ts";
import { pacedTable } from "./paced.ts";

const RELOADS = 5;

/** Wildcards of one level, which differ before, after and between their `*`. */
function wildcardsYaml(size: number): string {
  const rule = (index: number) =>
    `  - { key: path, value: "/v${index % 9}/*/item-${index}/*", rate_limit: { unit: hour, requests_per_unit: ${index} } }\n`;
  return `domain: bench\ndescriptors:\n${Array.from({ length: size }, (_, index) => rule(index)).join("")}`;
}

const shapes: Readonly<Record<string, () => string>> = {
  "1,000 rules": () => rulesYaml(1000),
  "10,000 rules": () => rulesYaml(10_000),
  "100,000 rules": () => rulesYaml(100_000),
  "1,000 wildcards of one level": () => wildcardsYaml(1000),
  "10,000 wildcards of one level": () => wildcardsYaml(10_000),
};

/** @param args parts of the shapes' names: `10,000`, `wildcards`. Default: all shapes, and the latency of calls */
export async function main(args: string[]): Promise<void> {
  console.log(await reloadTable(args));
  if (args.length === 0) console.log(`\n${await pacedTable()}`);
}

/** Measures the shapes whose names contain one of the given parts; all shapes without parts. */
export async function reloadTable(args: readonly string[] = []): Promise<string> {
  const rows: (string | number)[][] = [];
  for (const [name, yaml] of Object.entries(shapes)) {
    if (args.length > 0 && !args.some((part) => name.includes(part))) continue;
    rows.push([name, ...(await measure(yaml()))]);
  }
  return table(
    [
      "rules",
      "in this thread, ms",
      "first load, ms",
      "reload, ms",
      "most CPU of a turn, ms: median",
      "worst",
      "without a reload",
      "longest turn, ms: median",
      "worst",
      "without a reload",
      "MiB of compiled rules",
    ],
    rows,
  );
}

async function measure(yaml: string): Promise<(string | number)[]> {
  const folder = mkdtempSync(join(tmpdir(), "bench-reload-"));
  writeFileSync(join(folder, "rules.yaml"), yaml);
  const log = createLogger({ level: "error" });
  const statistics = createStatistics();
  let loaded = Promise.withResolvers<number>();
  const rules = new ActiveRules(log, statistics, undefined, () => {}, new LoadLog());
  const compiler = new RuleCompiler(COMPILER_THREAD);
  const source = new FileSource(
    {
      root: folder,
      subdirectory: "",
      appDirectory: "",
      ignoreDotFiles: false,
      watchRoot: true,
      mergeDomains: false,
      compiler,
      log,
    },
    {
      onRules: async (compiled, diagnostics) => {
        await rules.replace(compiled, diagnostics);
        loaded.resolve(performance.now());
      },
      onError: (diagnostics) => loaded.reject(new Error(diagnostics[0]!.message)),
      onRepeatedError() {},
    },
  );
  try {
    const begun = performance.now();
    source.start();
    const first = (await loaded.promise) - begun;
    const times: number[] = [];
    const turns: Turn[] = [];
    const others: Turn[] = [];
    for (let reload = 0; reload < RELOADS; reload++) {
      loaded = Promise.withResolvers();
      const from = performance.now();
      const watched = longestTurn(loaded.promise);
      source.reload();
      times.push((await loaded.promise) - from);
      turns.push(await watched);
      others.push(await longestTurn(delay(times.at(-1)!)));
    }
    const from = performance.now();
    loadRules([{ name: "rules.yaml", text: yaml }], { mergeDomains: false });
    const here = performance.now() - from;
    const { texts, nodes, slots, fallbacks, wildcards } = rules.current!.compiled;
    const bytes = [texts.bytes, texts.ends, texts.slots, nodes, slots, fallbacks, wildcards].reduce(
      (sum, { byteLength }) => sum + byteLength,
      0,
    );
    return [
      here.toFixed(0),
      first.toFixed(0),
      median(times).toFixed(0),
      ...(["cpu", "wall"] as const).flatMap((kind) => [
        median(turns.map((turn) => turn[kind])).toFixed(1),
        Math.max(...turns.map((turn) => turn[kind])).toFixed(1),
        median(others.map((turn) => turn[kind])).toFixed(1),
      ]),
      (bytes / 2 ** 20).toFixed(1),
    ];
  } finally {
    await source.stop();
    rmSync(folder, { recursive: true });
  }
}

/** The longest of all turns, in milliseconds. */
interface Turn {
  readonly wall: number;
  readonly cpu: number;
}

/** Measures the turns of the event loop until a promise resolves. */
async function longestTurn(until: Promise<unknown>): Promise<Turn> {
  let isOver = false;
  void until.then(() => {
    isOver = true;
  });
  const longest = { wall: 0, cpu: 0 };
  let [wall, cpu] = [performance.now(), threadMicroseconds()];
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve));
    const now = [performance.now(), threadMicroseconds()] as const;
    longest.wall = Math.max(longest.wall, now[0] - wall);
    longest.cpu = Math.max(longest.cpu, (now[1] - cpu) / 1000);
    [wall, cpu] = now;
  }
  return longest;
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
