import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { placeOf } from "../../test/counters/conformance.ts";
import { EmbeddedStore } from "../counters/embedded/embedded-store.ts";
import type { CounterStore, CountRequest } from "../counters/store.ts";
import { createStatistics } from "../observe/registry.ts";
import { decodeRequest } from "../protocol/decode-request.ts";
import { encodeRequest } from "../protocol/encode-request.ts";
import { encodeResponse } from "../protocol/encode-response.ts";
import type { RateLimitRequest, RateLimitResponse } from "../protocol/messages.ts";
import { RequestPlaces } from "../protocol/scan-request.ts";
import { loadRules } from "../rules/load-rules.ts";
import { MapStore, plainOptions } from "./decide.fixture.ts";
import { Decider } from "./decide.ts";
import { createKeyFormat } from "./key-format.ts";

const NOW = 1_783_296_005_250;

const rules = `
domain: d
descriptors:
  - { key: user, rate_limit: { unit: day, requests_per_unit: 3 } }
  - { key: user, value: ann, rate_limit: { unit: hour, requests_per_unit: 2, name: ann } }
  - { key: détail, value: é, rate_limit: { unit: minute, requests_per_unit: 2 } }
  - { key: free, rate_limit: { unlimited: true } }
  - { key: all, rate_limit: { unit: day, requests_per_unit: 9, replaces: [{ name: ann }] } }
  - { key: seen, detailed_metric: true, rate_limit: { unit: second, requests_per_unit: 4 } }
  - { key: shared, value: "a*", share_threshold: true, rate_limit: { unit: week, requests_per_unit: 5 } }
  - key: path
    value: /api/*
    descriptors:
      - { key: user, shadow_mode: true, rate_limit: { unit: day, requests_per_unit: 2 } }
      - { key: user, value: ann, quota_mode: true, rate_limit: { unit: day, requests_per_unit: 1 } }
  - key: path
    value: /api/v2
    descriptors:
      - { key: user, rate_limit: { unit: month, requests_per_unit: 1 } }
`;

const value = fc.oneof(
  fc.constantFrom("ann", "bob", "/api/v2", "/api/v1", "a", "ab", "é", ""),
  fc.constantFrom("x=y|z", "a b", "%", "語", "\ufffd", "y".repeat(600), `ann${"\u0085"}`),
);
/** Mostly keys that the rules have at this level. */
const keys = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(["user"], ["free"], ["all"], ["seen"], ["shared"], ["détail"]) },
  { weight: 4, arbitrary: fc.constant(["path", "user"]) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom("user", "path", "none", ""), { maxLength: 3 }) },
);
const path = fc.constantFrom("/api/v1", "/api/v2", "/api/", "/api", "/api/é");
const entries = keys.chain((names) =>
  fc.tuple(...names.map((key) => fc.record({ key: fc.constant(key), value: key === "path" ? path : value }))),
);
const descriptor = fc.record({
  entries,
  limit: fc.option(fc.record({ requestsPerUnit: fc.nat(3), unit: fc.integer({ min: 1, max: 4 }) }), {
    nil: undefined,
    freq: 1,
  }),
  hitsAddend: fc.option(fc.nat(3), { nil: undefined }),
  isNegativeHits: fc.boolean(),
});
const requests: fc.Arbitrary<RateLimitRequest> = fc.record({
  domain: fc.constantFrom("d", "d", "d", "other"),
  descriptors: fc.array(descriptor, { minLength: 1, maxLength: 4 }),
  hitsAddend: fc.nat(2),
});

/** Reads the stems of counts in place, and passes texts on. */
class ReadingStore implements CounterStore {
  readonly kind = "map";
  readonly readsPlaces = true;
  readonly inner = new MapStore();
  inPlace = 0;
  count(request: CountRequest): void {
    const counts = request.counts.map(({ place, ...count }) => {
      if (place === undefined) return count;
      this.inPlace++;
      assert.equal(count.stem, "");
      return { ...count, stem: Buffer.from(place.bytes).toString("latin1", place.start, place.end) };
    });
    this.inner.count({ ...request, counts });
    counts.forEach(({ outcome, after }, index) => {
      Object.assign(request.counts[index]!, { outcome, after });
    });
  }
  async close(): Promise<void> {}
}

async function statisticsText(statistics: ReturnType<typeof createStatistics>): Promise<string> {
  let text = "";
  for await (const piece of statistics.snapshot()) text += piece;
  return text;
}

function compatible(prefix: string, backend: "kvstore" | "objcache") {
  return { ...plainOptions, keyFormat: createKeyFormat({ format: "compatible", prefix, backend }) };
}

for (const [name, options] of [
  ["plain options", plainOptions],
  [
    "keys of memcached with a prefix",
    {
      ...plainOptions,
      keyFormat: createKeyFormat({ format: "tollgate", prefix: "p:", backend: "objcache" }),
    },
  ],
  ["compatible keys of a key-value store", compatible("p:", "kvstore")],
  ["compatible keys of memcached", compatible("p:", "objcache")],
  ["held back hits and metadata", { ...plainOptions, stopIncrementing: true, dynamicMetadata: true }],
] as const) {
  test(`a message in place is decided like its texts, with the same keys and statistics: ${name}`, async () => {
    const { ruleSet } = loadRules([{ name: "d.yaml", text: rules }], { mergeDomains: false });
    let inPlace = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(requests, { minLength: 1, maxLength: 12 }), async (all) => {
        const reading = new ReadingStore();
        const stores = [new MapStore(), reading, new MapStore()] as const;
        const statistics = stores.map(() => createStatistics());
        const deciders = stores.map((store, index) => new Decider(options, statistics[index]!, store));
        const places = new RequestPlaces();
        for (const request of all) {
          const bytes = encodeRequest(request);
          const message = Buffer.concat([Buffer.alloc(3, 0xff), bytes, Buffer.alloc(3, 0xff)]);
          places.scan(message, 3, 3 + bytes.length);
          const texts = decodeRequest(bytes, 0, bytes.length);
          const wanted = deciders[0]!.decide(
            deciders[0]!.prepare(texts, ruleSet),
            NOW,
            0,
          ) as RateLimitResponse;
          const expected = Buffer.from(encodeResponse(wanted));
          for (const decider of deciders.slice(1)) {
            const answer = decider.decideInPlace(places, ruleSet, NOW, 0) as RateLimitResponse;
            assert.deepEqual(Buffer.from(encodeResponse(answer)), expected);
          }
        }
        assert.deepEqual(reading.inner.counters, stores[0].counters);
        assert.deepEqual(stores[2].counters, stores[0].counters);
        const [first, ...others] = await Promise.all(statistics.map(statisticsText));
        for (const other of others) assert.equal(other, first);
        inPlace += reading.inPlace;
      }),
      { numRuns: 150 },
    );
    assert.ok(inPlace > 100, `${inPlace} counts were read in place`);
  });
}

test("the embedded store has one counter for a stem in place and for its text", () => {
  const store = EmbeddedStore.create({ sizeInBytes: 1 << 20, reclaimInterval: 0 });
  const more = {
    windowStart: 60,
    windowSize: 60,
    hits: 1,
    limit: 5,
    refuses: 1,
    outcome: 0,
    after: 0,
  } as const;
  const request = { holdBack: 0, now: 70_000, deadline: 0 } as const;
  for (const length of [0, 1, 3, 4, 5, 40, 511, 512, 513, 2000]) {
    const stem = "k".repeat(length);
    const bytes = Buffer.from(`..${stem}..`);
    const counts = [
      { ...more, stem },
      { ...more, stem: "", place: placeOf(bytes, 2, 2 + length) },
    ];
    store.count({ ...request, counts });
    assert.deepEqual(
      counts.map(({ after }) => after),
      [1, 2],
      `a stem of ${length} characters`,
    );
  }
});
