/**
 * `npm run bench -- limits`: the accuracy of each algorithm, admitted against allowed, and the CPU of a decision under it
 * against a plain fixed window: in the decision alone, in a whole call under h2load, and over Redis. `--plots` writes the
 * plots of docs/rules.md.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { EmbeddedStore } from "../../packages/tollgate/src/counters/embedded/embedded-store.ts";
import { Decider } from "../../packages/tollgate/src/decision/decide.ts";
import { createStatistics } from "../../packages/tollgate/src/observe/registry.ts";
import { RequestPlaces } from "../../packages/tollgate/src/protocol/scan-request.ts";
import { loadRules } from "../../packages/tollgate/src/rules/load-rules.ts";
import { cpuNanoseconds } from "../support/cpu-time.ts";
import { decisionOptions, message } from "../support/decision.ts";
import { median } from "../support/figures.ts";
import { framedFile, h2load } from "../support/h2load.ts";
import { startTollgate } from "../support/tollgate.ts";
import { overRedis } from "./over-redis.ts";
import { passedSvg } from "./passed-svg.ts";
import { algorithms, LIMIT, mostWithin, passed, SECONDS, traffics } from "./traffic.ts";

const ROUNDS = 7;
const plots = join(import.meta.dirname, "../../docs/limits");

export async function main(args: string[]): Promise<void> {
  if (args.includes("--plots")) writePlots();
  accuracy();
  cpu();
  await calls();
  await overRedis(measured);
}

function accuracy(): void {
  console.log(
    `admitted of asked, and the most within any ${SECONDS} s; the limit is ${LIMIT} in ${SECONDS} s\n`,
  );
  const names = Object.keys(traffics);
  console.log(`| algorithm | ${names.join(" | ")} |\n|---|${names.map(() => "---|").join("")}`);
  for (const [name, yaml] of algorithms) {
    const cells = Object.values(traffics).map((instants) => {
      const admitted = passed(yaml, instants);
      return `${admitted.length} of ${instants.length}, at most ${mostWithin(admitted)}`;
    });
    console.log(`| ${name} | ${cells.join(" | ")} |`);
  }
}

const measured: readonly (readonly [name: string, limits: string])[] = [
  ["fixed window", "rate_limit: { unit: hour, requests_per_unit: 1000000000 }"],
  [
    "fixed window of 15 minutes",
    "rate_limit: { unit: minute, unit_multiplier: 15, requests_per_unit: 1000000000 }",
  ],
  ["calendar day", "rate_limit: { unit: day, requests_per_unit: 1000000000, calendar: {} }"],
  ["accepted hits", "rate_limit: { unit: hour, requests_per_unit: 1000000000, count: accepted }"],
  ["sliding window", "rate_limit: { unit: hour, requests_per_unit: 1000000000, algorithm: sliding_window }"],
  ["token bucket", "rate_limit: { unit: second, requests_per_unit: 1000000000, algorithm: token_bucket }"],
  [
    "two limits",
    "rate_limits: [{ unit: hour, requests_per_unit: 1000000000 }, { unit: day, requests_per_unit: 1000000000 }]",
  ],
];

/** CPU of one decision from its message, 1,000 keys in turn, embedded. The rounds of all algorithms alternate. */
function cpu(): void {
  const runs = measured.map(([name, limits]) => ({
    name,
    run: decisionsOf(limits),
    figures: [] as number[],
  }));
  for (let round = 0; round < ROUNDS; round++)
    for (const { run, figures } of runs) figures.push(...cpuNanoseconds(1, run));
  const baseline = median(runs[0]!.figures);
  console.log("\n| algorithm | CPU of a decision | against a fixed window |\n|---|---|---|");
  for (const { name, figures } of runs) {
    const own = median(figures);
    console.log(`| ${name} | ${own.toFixed(0)} ns | ${(own / baseline).toFixed(2)} |`);
  }
}

/** CPU of the service for a call, with rounds of all algorithms in turn. */
async function calls(): Promise<void> {
  const domains = measured.map(([, limits], index) => `  - { key: k${index}, ${limits} }`);
  const server = await startTollgate({}, undefined, `domain: bench\ndescriptors:\n${domains.join("\n")}\n`);
  try {
    const shape = { connections: 8, streams: 50, calls: 60_000 };
    const runs = measured.map(([name], index) => {
      const file = framedFile(message(`k${index}=client-7`));
      return { name, file, figures: [] as number[] };
    });
    for (let round = -1; round < ROUNDS; round++)
      for (const { file, figures } of runs) {
        const { cpuMicroseconds } = h2load(server.pid, server.url, file, shape);
        if (round >= 0) figures.push(cpuMicroseconds);
      }
    const baseline = median(runs[0]!.figures);
    console.log("\n| algorithm | CPU of a call | against a fixed window |\n|---|---|---|");
    for (const { name, figures } of runs) {
      const own = median(figures);
      console.log(`| ${name} | ${own.toFixed(2)} µs | ${(own / baseline).toFixed(2)} |`);
    }
  } finally {
    await server.stop();
  }
}

function decisionsOf(limits: string): (call: number) => void {
  const text = `{ domain: bench, descriptors: [{ key: user, ${limits} }] }`;
  const { ruleSet } = loadRules([{ name: "rules.yaml", text }], { mergeDomains: false });
  const store = EmbeddedStore.create({ reclaimInterval: 0 });
  const decider = new Decider(decisionOptions, createStatistics(), store);
  const messages = Array.from({ length: 1000 }, (_, index) => Buffer.from(message(`user=user-${index}`)));
  const places = new RequestPlaces();
  const start = 1_800_000_000_000;
  return (call) => {
    const bytes = messages[call % 1000]!;
    places.scan(bytes, 0, bytes.length);
    decider.decideInPlace(places, ruleSet, start + Math.floor(call / 1000), 0);
  };
}

/** Above the limit for 30 s, a pause, and a burst on each side of a window's edge. */
function writePlots(): void {
  const steady = Array.from({ length: 500 }, (_, index) => index * 50);
  const burst = Array.from({ length: 200 }, (_, index) => 49_000 + index * 10);
  const asked = [...steady, ...burst];
  for (const [file, name] of [
    ["fixed-window", "fixed_window"],
    ["sliding-window", "sliding_window"],
    ["token-bucket", "token_bucket"],
  ] as const) {
    const yaml = algorithms.find(([one]) => one === name)![1];
    writeFileSync(
      join(plots, `${file}.svg`),
      passedSvg(`${name}: 100 in 10 s`, asked, passed(yaml, asked), 70_000),
    );
  }
}
