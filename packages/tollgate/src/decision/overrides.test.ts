/** Decisions under overrides and grants. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { EmbeddedStore } from "../counters/embedded/embedded-store.ts";
import { createStatistics } from "../observe/registry.ts";
import type { AdjustmentRecord } from "../overrides/record.ts";
import { OverrideTable } from "../overrides/table.ts";
import { decodeRequest } from "../protocol/decode-request.ts";
import { encodeRequest } from "../protocol/encode-request.ts";
import { encodeResponse } from "../protocol/encode-response.ts";
import type { RateLimitRequest } from "../protocol/messages.ts";
import { RequestPlaces } from "../protocol/scan-request.ts";
import { loadRules } from "../rules/load-rules.ts";
import { plainOptions } from "./decide.fixture.ts";
import { Decider } from "./decide.ts";
import { PendingDecision } from "./pending-decision.ts";

const NOW = 1_783_296_005_250;

const { ruleSet } = loadRules(
  [
    {
      name: "rules.yaml",
      text: `
domain: d
descriptors:
  - { key: plain, rate_limit: { unit: day, requests_per_unit: 3 } }
  - { key: sliding, rate_limit: { unit: minute, requests_per_unit: 3, algorithm: sliding_window } }
  - { key: bucket, rate_limit: { unit: second, requests_per_unit: 1, algorithm: token_bucket, burst: 3 } }
  - { key: free, rate_limit: { unlimited: true } }
  - { key: shared, value: "a*", share_threshold: true, rate_limit: { unit: day, requests_per_unit: 4 } }
  - key: list
    rate_limits:
      - { unit: minute, requests_per_unit: 2 }
      - { unit: hour, requests_per_unit: 4, algorithm: sliding_window, name: hourly }
`,
    },
  ],
  { mergeDomains: false },
);

class Clocked {
  now = NOW;
  table: OverrideTable | undefined;
  readonly overrides: { readonly current: OverrideTable | undefined; readonly now: () => number };
  readonly #decider: Decider;
  readonly #places = new RequestPlaces();

  constructor() {
    const self = this;
    this.overrides = {
      get current() {
        return self.table;
      },
      now: () => self.now,
    };
    const store = EmbeddedStore.create({ sizeInBytes: 1024 * 1024, reclaimInterval: 0 });
    this.#decider = new Decider({ ...plainOptions, overrides: this.overrides }, createStatistics(), store);
  }

  use(records: readonly AdjustmentRecord[]): void {
    this.table = OverrideTable.of(records, this.now);
  }

  inPlace(request: RateLimitRequest): string {
    const bytes = encodeRequest(request);
    this.#places.scan(bytes, 0, bytes.length);
    const answer = this.#decider.decideInPlace(this.#places, ruleSet!, this.now, 0);
    assert.ok(!(answer instanceof PendingDecision));
    return Buffer.from(encodeResponse(answer)).toString("hex");
  }

  fromTexts(request: RateLimitRequest): string {
    const bytes = encodeRequest(request);
    const prepared = this.#decider.prepare(decodeRequest(bytes, 0, bytes.length), ruleSet!);
    const answer = this.#decider.decide(prepared, this.now, 0);
    assert.ok(!(answer instanceof Promise));
    return Buffer.from(encodeResponse(answer)).toString("hex");
  }

  /** Hits a descriptor. @returns the number that passed */
  hit(key: string, value: string, times: number): number {
    let passed = 0;
    for (let time = 0; time < times; time++) {
      const bytes = encodeRequest(requestOf(key, value));
      this.#places.scan(bytes, 0, bytes.length);
      const answer = this.#decider.decideInPlace(this.#places, ruleSet!, this.now, 0);
      assert.ok(!(answer instanceof PendingDecision));
      if (answer.overallCode === 1) passed += 1;
    }
    return passed;
  }
}

function requestOf(key: string, value: string): RateLimitRequest {
  const entries = [{ key, value }];
  const descriptor = { entries, limit: undefined, hitsAddend: undefined, isNegativeHits: false };
  return { domain: "d", descriptors: [descriptor], hitsAddend: 0 };
}

type Part = Partial<AdjustmentRecord> & { readonly key: string; readonly value?: string };

function record({ key, value = "a", ...part }: Part): AdjustmentRecord {
  const common = { id: "x", domain: "d", entries: [{ key, value }], by: "alice", at: NOW };
  return { kind: "override", ...common, ...part } as AdjustmentRecord;
}

for (const [name, key, records, passed] of [
  ["none", "plain", [], 3],
  ["raised", "plain", [record({ key: "plain", requestsPerUnit: 5 })], 5],
  ["lowered", "plain", [record({ key: "plain", requestsPerUnit: 1 })], 1],
  ["suspended", "plain", [record({ key: "plain", requestsPerUnit: 0 })], 0],
  ["lifted", "plain", [record({ key: "plain", unlimited: true })], 20],
  ["beyond 2^32", "plain", [record({ key: "plain", requestsPerUnit: 2 ** 40 })], 20],
  ["of another value", "plain", [record({ key: "plain", value: "b", requestsPerUnit: 5 })], 3],
  ["ended", "plain", [record({ key: "plain", requestsPerUnit: 5, expires: NOW })], 3],
  [
    "granted twice",
    "plain",
    [1, 2].map((hits) => record({ key: "plain", kind: "grant", hits, expires: NOW + 9 })),
    6,
  ],
  ["of a sliding window", "sliding", [record({ key: "sliding", requestsPerUnit: 5 })], 5],
  ["of a bucket", "bucket", [record({ key: "bucket", requestsPerUnit: 1, burst: 7 })], 7],
  ["of a bucket's rate", "bucket", [record({ key: "bucket", requestsPerUnit: 9 })], 3],
  ["of a list", "list", [record({ key: "list", limit: "minute", requestsPerUnit: 3 })], 3],
  ["of a list, one lifted", "list", [record({ key: "list", limit: "minute", unlimited: true })], 4],
  [
    "of a list, both",
    "list",
    [
      record({ key: "list", limit: "minute", requestsPerUnit: 9 }),
      record({ key: "list", limit: "hourly", kind: "grant", hits: 2, expires: NOW + 9 }),
    ],
    6,
  ],
  [
    "of a limit that the list lacks",
    "list",
    [record({ key: "list", limit: "daily", requestsPerUnit: 9 })],
    2,
  ],
  ["of an unlimited rule", "free", [record({ key: "free", requestsPerUnit: 1 })], 20],
] as const)
  test(`an override: ${name}`, () => {
    const clocked = new Clocked();
    clocked.use(records);
    assert.equal(clocked.hit(key, "a", 20), passed);
    assert.equal(clocked.hit("plain", "other", 20), 3);
  });

test("values that share a counter have no overrides", () => {
  const clocked = new Clocked();
  clocked.use([record({ key: "shared", value: "ab", requestsPerUnit: 100 })]);
  assert.equal(clocked.hit("shared", "ab", 20), 4);
});

test("a table that replaces another one applies to the next call, and the counter goes on", () => {
  const clocked = new Clocked();
  assert.equal(clocked.hit("plain", "a", 2), 2);
  clocked.use([record({ key: "plain", requestsPerUnit: 10 })]);
  assert.equal(clocked.hit("plain", "a", 2), 2);
  clocked.use([record({ key: "plain", requestsPerUnit: 5, expires: NOW + 1000 })]);
  assert.equal(clocked.hit("plain", "a", 20), 1);
  clocked.use([record({ key: "plain", unlimited: true, expires: NOW + 1000 })]);
  assert.equal(clocked.hit("plain", "a", 20), 20);
  clocked.now += 1000;
  assert.equal(clocked.hit("plain", "a", 20), 0, "the table is the same, and its record has ended");
});

const keys = fc.constantFrom("plain", "sliding", "bucket", "free", "shared", "list");
const values = fc.constantFrom("a", "ab", "é", "x=y|z");
const adjustments = fc.array(
  fc
    .record({
      key: keys,
      value: values,
      limit: fc.constantFrom(undefined, "minute", "hourly"),
      change: fc.oneof(
        fc.record({ requestsPerUnit: fc.constantFrom(0, 1, 5, 2 ** 40) }),
        fc.constant({ unlimited: true as const }),
        fc.record({ kind: fc.constant("grant" as const), hits: fc.nat(3) }),
      ),
      expires: fc.constantFrom(NOW + 500, NOW + 5000, NOW + 500_000),
    })
    .map(({ change, limit, ...rest }) =>
      record({ ...rest, ...change, ...(limit !== undefined && { limit }) }),
    ),
  { maxLength: 6 },
);

test("in place and from texts, the answers are the same", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({ key: keys, value: values, advance: fc.nat(2000), change: fc.option(adjustments) }),
        {
          maxLength: 40,
        },
      ),
      (steps) => {
        const one = new Clocked();
        const two = new Clocked();
        for (const { key, value, advance, change } of steps) {
          for (const clocked of [one, two]) {
            clocked.now += advance;
            if (change !== null) clocked.use(change);
          }
          assert.equal(one.inPlace(requestOf(key, value)), two.fromTexts(requestOf(key, value)));
        }
      },
    ),
  );
});
