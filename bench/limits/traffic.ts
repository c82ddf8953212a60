/** The hits that each algorithm lets pass, for several kinds of traffic, under a virtual clock. */
import { EmbeddedStore } from "../../packages/tollgate/src/counters/embedded/embedded-store.ts";
import { Decider } from "../../packages/tollgate/src/decision/decide.ts";
import { createStatistics } from "../../packages/tollgate/src/observe/registry.ts";
import { Code } from "../../packages/tollgate/src/protocol/messages.ts";
import { loadRules } from "../../packages/tollgate/src/rules/load-rules.ts";
import { decisionOptions } from "../support/decision.ts";

/** 100 hits in 10 seconds. */
export const LIMIT = 100;
export const SECONDS = 10;

const base = `unit: second, unit_multiplier: ${SECONDS}, requests_per_unit: ${LIMIT}`;

export const algorithms: readonly (readonly [name: string, yaml: string])[] = [
  ["fixed_window", base],
  ["fixed_window, count: accepted", `${base}, count: accepted`],
  ["sliding_window", `${base}, algorithm: sliding_window`],
  ["token_bucket", `${base}, algorithm: token_bucket`],
  ["token_bucket, burst: 20", `${base}, algorithm: token_bucket, burst: 20`],
];

/** Instants of hits in milliseconds from the start, which is the start of a window. */
export const traffics: Readonly<Record<string, readonly number[]>> = {
  "steady, 20 a second": even(0, 60_000, 1200),
  "steady, 9 a second": even(0, 60_000, 540),
  "bursts of 150 every 7 s": [0, 7, 14, 21, 28, 35, 42, 49, 56].flatMap((second) =>
    even(second * 1000, second * 1000 + 100, 150),
  ),
  "100 on each side of a window's edge": [
    ...even(9500, 10_000, 100),
    ...even(10_000, 10_500, 100),
    ...even(29_500, 30_500, 200),
  ],
};

function even(from: number, to: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => from + Math.floor(((to - from) * index) / count));
}

const START = 1_800_000_000_000;

/** The instants of the hits that pass. */
export function passed(yaml: string, instants: readonly number[]): readonly number[] {
  const text = `{ domain: d, descriptors: [{ key: k, rate_limit: { ${yaml} } }] }`;
  const { ruleSet } = loadRules([{ name: "rules.yaml", text }], { mergeDomains: false });
  const store = EmbeddedStore.create({ sizeInBytes: 1024 ** 2, reclaimInterval: 0 });
  const decider = new Decider(decisionOptions, createStatistics(), store);
  const descriptor = {
    entries: [{ key: "k", value: "v" }],
    limit: undefined,
    hitsAddend: undefined,
    isNegativeHits: false,
  };
  const request = { domain: "d", descriptors: [descriptor], hitsAddend: 0 };
  return instants.filter((at) => {
    const response = decider.decide(decider.prepare(request, ruleSet), START + at, 0);
    return !(response instanceof Promise) && response.overallCode === Code.OK;
  });
}

/** The most hits within any window of the limit's length. */
export function mostWithin(instants: readonly number[]): number {
  let most = 0;
  let first = 0;
  for (let last = 0; last < instants.length; last++) {
    while (instants[last]! - instants[first]! >= SECONDS * 1000) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}
