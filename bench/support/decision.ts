import { EmbeddedStore } from "../../packages/tollgate/src/counters/embedded/embedded-store.ts";
import type { CounterStore } from "../../packages/tollgate/src/counters/store.ts";
import { Decider, type DecisionOptions } from "../../packages/tollgate/src/decision/decide.ts";
import { DecisionObserver } from "../../packages/tollgate/src/decision/decision-observer.ts";
import { DecisionRecorder } from "../../packages/tollgate/src/decision/decision-recorder.ts";
import { createKeyFormat } from "../../packages/tollgate/src/decision/key-format.ts";
import { RateLimitHandler } from "../../packages/tollgate/src/listeners/rate-limit-handler.ts";
import { Sampling } from "../../packages/tollgate/src/observe/decision-log/sampling.ts";
import { KeyMask } from "../../packages/tollgate/src/observe/key-mask.ts";
import { createLogger } from "../../packages/tollgate/src/observe/log.ts";
import { createStatistics } from "../../packages/tollgate/src/observe/registry.ts";
import { ThreadTopKeys } from "../../packages/tollgate/src/observe/top-keys/thread-top-keys.ts";
import { HeldOverrides } from "../../packages/tollgate/src/overrides/holder.ts";
import type { ActiveOverrides } from "../../packages/tollgate/src/overrides/table.ts";
import { encodeRequest } from "../../packages/tollgate/src/protocol/encode-request.ts";
import { loadRules } from "../../packages/tollgate/src/rules/load-rules.ts";

/** The rules that every benchmark of decisions uses. */
export const rules = `
domain: bench
descriptors:
  - key: user
    rate_limit: { unit: hour, requests_per_unit: 1000000000 }
  - key: path
    value: /api/*
    descriptors:
      - key: remote_address
        rate_limit: { unit: minute, requests_per_unit: 1000000000 }
  - key: tenant
    rate_limit: { unit: hour, requests_per_unit: 1000000000 }
  - key: plan
    value: free
    rate_limit: { unit: day, requests_per_unit: 1 }
`;

/** Encodes a request. Each descriptor has the form `key=value,key2=value2`. */
export function message(...descriptors: string[]): Uint8Array {
  return encodeRequest({
    domain: "bench",
    descriptors: descriptors.map((text) => ({
      entries: text.split(",").map((pair) => {
        const [key = "", value = ""] = pair.split("=");
        return { key, value };
      }),
      limit: undefined,
      hitsAddend: undefined,
      isNegativeHits: false,
    })),
    hitsAddend: 0,
  });
}

/** The default options of the service. */
export const decisionOptions: DecisionOptions = {
  keyFormat: createKeyFormat({ format: "tollgate", prefix: "", backend: "embedded" }),
  nearLimitRatio: 0.8,
  shadowMode: false,
  quotaMode: false,
  stopIncrementing: false,
  dynamicMetadata: false,
  headers: undefined,
};

/** Counts top keys with the default settings of the service. */
export function topKeysObserver(): DecisionObserver {
  const mask = new KeyMask({ keys: [], style: "hash", salt: "" });
  const topKeys = new ThreadTopKeys({ size: 128, window: 600_000, mask });
  const sampling = new Sampling({ rate: 0, refusalsPerSecond: 0 });
  const recorder = new DecisionRecorder({ sampling, mask, write: () => {} });
  return new DecisionObserver({ topKeys, recorder, mask, seed: 0 });
}

/** Overrides of descriptors: `key=value`. */
export function overridesOf(descriptors: readonly string[]): ActiveOverrides {
  return new HeldOverrides(
    descriptors.map((text, index) => {
      const [key = "", value = ""] = text.split("=");
      const entries = [{ key, value }];
      const requestsPerUnit = 2_000_000_000;
      return {
        kind: "override",
        id: `${index}`,
        domain: "bench",
        entries,
        requestsPerUnit,
        by: "bench",
        at: 0,
      };
    }),
  );
}

/** Creates the parts of a decision between the transport and the store. */
export function decisions(
  options: Partial<DecisionOptions> = {},
  store: CounterStore = EmbeddedStore.create(),
) {
  const { ruleSet, diagnostics } = loadRules([{ name: "bench.yaml", text: rules }], { mergeDomains: false });
  if (ruleSet === undefined) throw new Error(diagnostics.map(({ message }) => message).join("\n"));
  const statistics = createStatistics();
  const decider = new Decider({ ...decisionOptions, ...options }, statistics, store);
  const handler = new RateLimitHandler({
    decider,
    store,
    ruleSet: () => ruleSet,
    statistics,
    log: createLogger(),
  });
  return { ruleSet, store, statistics, decider, handler };
}
