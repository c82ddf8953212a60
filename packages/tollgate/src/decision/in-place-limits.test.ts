import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { EmbeddedStore } from "../counters/embedded/embedded-store.ts";
import { OverLimitCache } from "../counters/over-limit-cache.ts";
import { createStatistics } from "../observe/registry.ts";
import { decodeRequest } from "../protocol/decode-request.ts";
import { encodeRequest } from "../protocol/encode-request.ts";
import { encodeResponse } from "../protocol/encode-response.ts";
import { RequestPlaces } from "../protocol/scan-request.ts";
import { loadRules } from "../rules/load-rules.ts";
import { plainOptions } from "./decide.fixture.ts";
import { Decider } from "./decide.ts";
import { createKeyFormat } from "./key-format.ts";
import { PendingDecision } from "./pending-decision.ts";

const NOW = 1_783_296_005_250;

const rules = `
domain: d
descriptors:
  - { key: plain, rate_limit: { unit: day, requests_per_unit: 3 } }
  - { key: accepted, rate_limit: { unit: day, requests_per_unit: 3, count: accepted } }
  - { key: wide, rate_limit: { unit: minute, unit_multiplier: 15, requests_per_unit: 3 } }
  - { key: sliding, rate_limit: { unit: minute, requests_per_unit: 3, algorithm: sliding_window } }
  - { key: bucket, shadow_mode: true, rate_limit: { unit: second, requests_per_unit: 1, algorithm: token_bucket, burst: 3 } }
  - { key: shared, value: "a*", share_threshold: true, rate_limit: { unit: day, requests_per_unit: 4, algorithm: token_bucket } }
  - key: list
    rate_limits:
      - { unit: second, requests_per_unit: 2 }
      - { unit: hour, requests_per_unit: 4, algorithm: sliding_window, name: hourly }
      - { unit: day, unit_multiplier: 10, requests_per_unit: 6, algorithm: token_bucket, burst: 5 }
`;

const descriptor = fc.record({
  entries: fc
    .record({
      key: fc.constantFrom("plain", "accepted", "wide", "sliding", "bucket", "shared", "list"),
      value: fc.constantFrom("a", "ab", "b", "é", "x=y|z", "y".repeat(200), "y".repeat(600)),
    })
    .map((entry) => [entry]),
  limit: fc.option(
    fc.record({
      requestsPerUnit: fc.nat(3),
      unit: fc.constant(4),
      unitMultiplier: fc.constantFrom(undefined, 1, 15),
    }),
    { nil: undefined, freq: 12 },
  ),
  hitsAddend: fc.option(fc.nat(3), { nil: undefined }),
  isNegativeHits: fc.boolean(),
});
const calls = fc.array(
  fc.record({
    advance: fc.nat({ max: 2000 }),
    request: fc.record({
      domain: fc.constant("d"),
      descriptors: fc.array(descriptor, { minLength: 1, maxLength: 4 }),
      hitsAddend: fc.nat(2),
    }),
  }),
  { maxLength: 25 },
);

const { ruleSet, diagnostics } = loadRules([{ name: "rules.yaml", text: rules }], { mergeDomains: false });

for (const backend of ["embedded", "kvstore"] as const)
  for (const cache of [0, 100_000])
    for (const stopIncrementing of [false, true])
      test(`limits in place are as from texts: keys of ${backend}, cache of ${cache} bytes, stop incrementing ${stopIncrementing}`, () => {
        assert.deepEqual(diagnostics, []);
        const keyFormat = createKeyFormat({ format: "tollgate", prefix: "p:", backend });
        fc.assert(
          fc.property(calls, (sequence) => {
            const [texts, inPlace] = [0, 1].map(() => {
              const store = EmbeddedStore.create({ sizeInBytes: 1024 ** 2, reclaimInterval: 0 });
              const cached = new OverLimitCache(store, { sizeInBytes: cache });
              return new Decider(
                { ...plainOptions, keyFormat, stopIncrementing },
                createStatistics(),
                cached,
              );
            });
            const places = new RequestPlaces();
            let now = NOW;
            for (const { advance, request } of sequence) {
              now += advance;
              const bytes = encodeRequest(request);
              const expected = texts!.decide(
                texts!.prepare(decodeRequest(bytes, 0, bytes.length), ruleSet),
                now,
                0,
              );
              assert.ok(!(expected instanceof Promise));
              const wanted = Buffer.from(encodeResponse(expected)).toString("hex");
              places.scan(bytes, 0, bytes.length);
              const found = inPlace!.decideInPlace(places, ruleSet, now, 0);
              assert.ok(!(found instanceof PendingDecision));
              assert.equal(Buffer.from(encodeResponse(found)).toString("hex"), wanted);
            }
          }),
          { numRuns: 60 },
        );
      });
