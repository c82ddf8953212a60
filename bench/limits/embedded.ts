/** CPU of one decision under each algorithm, from its message, with 1,000 keys in turn in the embedded store. */
import { EmbeddedStore } from "../../packages/tollgate/src/counters/embedded/embedded-store.ts";
import { Decider } from "../../packages/tollgate/src/decision/decide.ts";
import { createStatistics } from "../../packages/tollgate/src/observe/registry.ts";
import { RequestPlaces } from "../../packages/tollgate/src/protocol/scan-request.ts";
import { loadRules } from "../../packages/tollgate/src/rules/load-rules.ts";
import { cpuNanoseconds } from "../support/cpu-time.ts";
import { decisionOptions, message } from "../support/decision.ts";
import { median, table } from "../support/figures.ts";
import { measured } from "./measured.ts";

/** The rounds of all algorithms alternate. */
export function embeddedTable(rounds: number): string {
  const runs = measured.map(([name, limits]) => ({
    name,
    run: decisionsOf(limits),
    figures: [] as number[],
  }));
  for (let round = 0; round < rounds; round++)
    for (const { run, figures } of runs) figures.push(...cpuNanoseconds(1, run));
  const baseline = median(runs[0]!.figures);
  const rows = runs.map(({ name, figures }) => {
    const own = median(figures);
    return [name, `${own.toFixed(0)} ns`, (own / baseline).toFixed(2)];
  });
  return table(["algorithm", "CPU of a decision", "against a fixed window"], rows);
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
