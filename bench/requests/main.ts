/**
 * Measures the CPU of the most expensive requests within the default limits, compared to a unit of native code that takes
 * 5 ms on a 3 GHz core.
 */
import { EmbeddedStore } from "../../packages/tollgate/src/counters/embedded/embedded-store.ts";
import { Decider } from "../../packages/tollgate/src/decision/decide.ts";
import { RateLimitHandler } from "../../packages/tollgate/src/listeners/rate-limit-handler.ts";
import {
  calibrate,
  cpuOf,
  worstBodies,
  worstMessages,
  worstRules,
} from "../../packages/tollgate/src/listeners/worst-requests.fixture.ts";
import { createLogger } from "../../packages/tollgate/src/observe/log.ts";
import { createStatistics } from "../../packages/tollgate/src/observe/registry.ts";
import { loadRules } from "../../packages/tollgate/src/rules/load-rules.ts";
import { decisionOptions } from "../support/decision.ts";

const CALLS = 60;
const WARM_UP = 6;

export async function main(): Promise<void> {
  const { ruleSet } = loadRules([{ name: "d.yaml", text: worstRules }], { mergeDomains: false });
  const store = EmbeddedStore.create({ sizeInBytes: 64 * 1024 * 1024, reclaimInterval: 0 });
  const statistics = createStatistics();
  const handler = new RateLimitHandler({
    decider: new Decider(decisionOptions, statistics, store),
    store,
    ruleSet: () => ruleSet,
    statistics,
    log: createLogger({ level: "panic" }),
  });
  const decideJson = (body: Buffer): void => {
    try {
      handler.decideJson(body);
    } catch (error) {
      handler.failureOf(error);
    }
  };
  const listeners = [
    ["gRPC", worstMessages, (bytes: Buffer) => handler.decideMessage(bytes, 0, bytes.length, 1_000_000, 0)],
    ["/json", worstBodies, decideJson],
  ] as const;
  console.log("| listener | shape | ms of CPU | units of 5 ms |\n|---|---|---|---|");
  for (const [listener, shapes, decide] of listeners) {
    for (const [name, make] of Object.entries(shapes)) {
      const calls = Array.from({ length: WARM_UP + CALLS }, (_, seed) => make(seed));
      for (const call of calls.slice(0, WARM_UP)) decide(call);
      const unit = calibrate();
      const cpu = cpuOf(() => {
        for (const call of calls.slice(WARM_UP)) decide(call);
      });
      console.log(
        `| ${listener} | ${name} | ${(cpu / CALLS).toFixed(1)} | ${(cpu / CALLS / unit).toFixed(2)} |`,
      );
    }
  }
  await store.close();
}
