import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { RateLimitRequest } from "../protocol/messages.ts";
import { codeNames } from "../protocol/units.ts";
import { loadRules } from "../rules/load-rules.ts";
import { descriptor, MapStatistics, MapStore, plainOptions, request } from "./decide.fixture.ts";
import { Decider, type DecisionOptions } from "./decide.ts";
import { explainDecision } from "./explain-decision.ts";
import { createKeyFormat } from "./key-format.ts";

const NOW = 1_783_296_005_250;

const yaml = `
domain: d
descriptors:
  - { key: two, rate_limit: { unit: day, requests_per_unit: 2 } }
  - { key: shadow, shadow_mode: true, rate_limit: { unit: day, requests_per_unit: 0 } }
  - { key: none, rate_limit: { unit: day, requests_per_unit: 0 } }
  - { key: quota, quota_mode: true, rate_limit: { unit: day, requests_per_unit: 0 } }
  - { key: left, quota_mode: true, rate_limit: { unit: day, requests_per_unit: 2 } }
`;

function setUp(options: Partial<DecisionOptions> = {}) {
  const { ruleSet } = loadRules([{ name: "d.yaml", text: yaml }], { mergeDomains: false });
  const all = { ...plainOptions, ...options };
  const store = new MapStore();
  const decider = new Decider(all, new MapStatistics(), store);
  return {
    store,
    decide: async (of: RateLimitRequest) => {
      const { overallCode, statuses } = await decider.decide(decider.prepare(of, ruleSet), NOW, 0);
      return {
        overallCode: codeNames[overallCode],
        answers: statuses.map(({ code, limitRemaining }) => ({ code: codeNames[code], limitRemaining })),
      };
    },
    explain: async (of: RateLimitRequest) => {
      const { overallCode, descriptors } = await explainDecision(of, ruleSet, store, all, NOW);
      return { overallCode, answers: descriptors.map(({ answer }) => answer), descriptors };
    },
  };
}

describe("an explanation predicts the answer and counts nothing", () => {
  const requests: [string, RateLimitRequest][] = [
    ["one", request(descriptor("two"))],
    ["several, all within", request(descriptor("two"), descriptor("left"))],
    ["one that exceeds", request(descriptor("two"), descriptor("none"))],
    ["one in shadow mode that exceeds", request(descriptor("two"), descriptor("shadow"))],
    ["a quota with another one left", request(descriptor("two"), descriptor("quota"), descriptor("left"))],
    ["the only quota", request(descriptor("two"), descriptor("quota"))],
    ["a read", request(descriptor("two", { hitsAddend: 0 }), descriptor("none", { hitsAddend: 0 }))],
    ["a refund", request(descriptor("two", { hitsAddend: 3, isNegativeHits: true }), descriptor("none"))],
  ];
  for (const stopIncrementing of [false, true])
    for (const [name, of] of requests)
      test(`${name}${stopIncrementing ? ", with stop-incrementing" : ""}`, async () => {
        const { store, decide, explain } = setUp({ stopIncrementing });
        for (let call = 0; call < 4; call++) {
          const before = [...store.counters];
          const { overallCode, answers } = await explain(of);
          assert.deepEqual(
            [...store.counters].filter(([, value]) => value > 0),
            before.filter(([, value]) => value > 0),
          );
          assert.deepEqual({ overallCode, answers }, await decide(of), `call ${call + 1}`);
        }
      });

  test("an explanation shows the stored key", async () => {
    const { explain } = setUp({
      keyFormat: createKeyFormat({ format: "tollgate", prefix: "p:", backend: "objcache" }),
    });
    const long = { ...descriptor("two"), entries: [{ key: "two", value: "x".repeat(300) }] };
    const { descriptors } = await explain(request(descriptor("two"), long));
    assert.match(descriptors[0]!.cacheKey!, /^p:d\|two=v\|day:\d+$/);
    assert.match(descriptors[1]!.cacheKey!, /^p:#[0-9a-f]{32}:day:\d+$/);
  });
});
