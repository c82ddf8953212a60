/**
 * `npm run bench -- quick`: prints the ten figures that matter for a change of the decision path, in less than two
 * minutes. The first six are of one process without the kernel, so they are steadier on a busy machine.
 */
import { measureAllocations } from "../allocations/main.ts";
import { cpuOf, EMBEDDED, EMPTY, GO, measureGateway, REDIS } from "../gateway/main.ts";
import { leading, type Workload } from "../gateway/workload.ts";
import { interleaved, machine, median, table } from "../support/figures.ts";
import { measurePath, type PathFigures } from "./path.ts";

const ROUNDS = 2;

const inTurn = (addresses: number): Workload => ({ ...leading, choice: "turn", addresses });
const paths: Readonly<Record<string, readonly ["empty" | "tollgate", Workload]>> = {
  empty: ["empty", leading],
  traced: ["tollgate", leading],
  untraced: ["tollgate", { ...leading, isTraced: false }],
  few: ["tollgate", inTurn(1000)],
  many: ["tollgate", inTurn(1_000_000)],
};

export async function main(): Promise<void> {
  console.log(`${machine()}\n`);
  const measured = await interleaved(Object.keys(paths), ROUNDS, async (name) =>
    measurePath(...paths[name]!),
  );
  const of = (name: string, figure: keyof PathFigures) =>
    median(measured.get(name)!.map((one) => one[figure]));
  const ns = (name: string) => of(name, "nanoseconds");
  const load = "Zipf, traced";
  const served = await measureGateway(1, 400_000, [EMPTY, EMBEDDED, REDIS, GO], { [load]: leading });
  const cpu = (name: string) => cpuOf(served, name, load);
  const allocations = measureAllocations();
  const us = (value: number | undefined) => (value === undefined ? "not measured" : `${value.toFixed(2)} us`);
  const ratio = (one: number | undefined, other: number | undefined) =>
    one === undefined || other === undefined
      ? "not measured"
      : one / other < 10
        ? (one / other).toFixed(2)
        : (one / other).toFixed(1);
  const rows: [string, string][] = [
    ["path of a call, Zipf, traced", us(ns("traced") / 1000)],
    ["the same, not traced", us(ns("untraced") / 1000)],
    ["path of an empty handler, traced", us(ns("empty") / 1000)],
    ["path of a call / path of an empty handler", ratio(ns("traced"), ns("empty"))],
    ["1,000,000 live keys in turn / 1,000", ratio(ns("many"), ns("few"))],
    ["heap of a call, Zipf, traced", `${of("traced", "bytes").toFixed(0)} bytes`],
    ["heap of a decision on a new key", `${allocations["one descriptor, a new key each time"]} bytes`],
    ["under load, embedded / empty handler", `${ratio(cpu(EMBEDDED), cpu(EMPTY))} (${us(cpu(EMBEDDED))})`],
    ["under load, over Redis / empty handler", `${ratio(cpu(REDIS), cpu(EMPTY))} (${us(cpu(REDIS))})`],
    ["under load, Go service / Tollgate, both over Redis", `${ratio(cpu(GO), cpu(REDIS))} (${us(cpu(GO))})`],
  ];
  console.log(table(["figure", "now"], rows));
}
