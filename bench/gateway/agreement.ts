import { table } from "../support/figures.ts";
import { cpuOf, EMBEDDED, EMPTY, type GatewayResults, GO, REDIS } from "./main.ts";

type Figure = (of: (name: string) => number | undefined) => number | undefined;

const ratio = (above: number | undefined, below: number | undefined) =>
  above === undefined || below === undefined ? undefined : above / below;

const figures: Readonly<Record<string, Figure>> = {
  "empty handler, CPU us": (of) => of(EMPTY),
  "embedded, CPU us": (of) => of(EMBEDDED),
  "over Redis, CPU us": (of) => of(REDIS),
  "embedded, x empty handler": (of) => ratio(of(EMBEDDED), of(EMPTY)),
  "over Redis, x empty handler": (of) => ratio(of(REDIS), of(EMPTY)),
  "Go service, x Tollgate over Redis": (of) => ratio(of(GO), of(REDIS)),
};

/** Formats how far several runs agree, for one workload. A figure that was not measured has no row. */
export function agreementTable(runs: readonly GatewayResults[], load: string): string {
  const rows = Object.entries(figures).flatMap(([name, figure]) => {
    const values = runs.map((run) => figure((peer) => cpuOf(run, peer, load)));
    const measured = values.filter((value) => value !== undefined);
    if (measured.length < runs.length) return [];
    const apart = (Math.max(...measured) / Math.min(...measured) - 1) * 100;
    return [[name, ...measured.map((value) => value.toFixed(2)), `${apart.toFixed(0)} %`]];
  });
  return table(["figure", ...runs.map((_, run) => `run ${run + 1}`), "highest above lowest"], rows);
}

/** Joins the rounds of several runs of the same peers and workloads. */
export function joinRuns(runs: readonly GatewayResults[]): GatewayResults {
  const joined = new Map<string, Record<string, GatewayRounds>>();
  for (const run of runs)
    for (const [name, loads] of run)
      for (const [load, rounds] of Object.entries(loads)) {
        const byLoad = joined.get(name) ?? {};
        byLoad[load] = [...(byLoad[load] ?? []), ...rounds];
        joined.set(name, byLoad);
      }
  return joined;
}

type GatewayRounds =
  GatewayResults extends ReadonlyMap<string, Readonly<Record<string, infer Rounds>>> ? Rounds : never;
