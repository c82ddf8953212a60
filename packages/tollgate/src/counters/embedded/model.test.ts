/** Compares the embedded store with a plain Map, for random sequences. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { makeCount, makeRequest } from "../../../test/counters/conformance.ts";
import { ModelStore } from "../../../test/counters/model.ts";
import { type Count, HoldBack, Refuses } from "../store.ts";
import { EmbeddedStore } from "./embedded-store.ts";

const START = 1_800_000_000_000;

/** Each key has one unit, like a stem. */
const SIZES = [1, 60, 3600, 86_400];
/** Keys of every kind: short, wide, long, and keys that differ only in their last character. */
const KEYS = [
  ...Array.from({ length: 12 }, (_, index) => `d|k=${index}|:`),
  "d|é=ÿ|:",
  "d|日本=1|:",
  "d|日本=2|:",
  `d|${"long".repeat(40)}|:`,
  `d|${"longer".repeat(200)}1|:`,
  `d|${"longer".repeat(200)}2|:`,
];

interface Step {
  readonly advance: number;
  readonly lag: number;
  readonly holdBack: HoldBack;
  readonly counts: readonly { key: number; hits: number; limit: number; refuses: Refuses }[];
}

const hits = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 5 }) },
  { weight: 2, arbitrary: fc.integer({ min: -8, max: -1 }) },
  { weight: 1, arbitrary: fc.constantFrom(2 ** 31, 2 ** 32, 2 ** 53 - 1, -(2 ** 53 - 1)) },
);

const steps = (keys: number): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.record({
      advance: fc.oneof(
        { weight: 5, arbitrary: fc.constant(0) },
        { weight: 3, arbitrary: fc.integer({ min: 1, max: 2000 }) },
        { weight: 1, arbitrary: fc.integer({ min: 0, max: 200_000_000 }) },
      ),
      lag: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 999 })),
      holdBack: fc.constantFrom(
        HoldBack.NEVER,
        HoldBack.WHEN_REFUSED,
        HoldBack.WHEN_REFUSED,
        HoldBack.ALWAYS,
      ),
      counts: fc.array(
        fc.record({
          key: fc.nat({ max: keys - 1 }),
          hits,
          limit: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.constant(2 ** 32 - 1)),
          refuses: fc.constantFrom(Refuses.NEVER, Refuses.ALWAYS, Refuses.TOGETHER, Refuses.TOGETHER),
        }),
        { maxLength: 20 },
      ),
    }),
    { maxLength: 60 },
  );

/** A count in the window that contains `now`. */
function countAt(
  stem: string,
  size: number,
  now: number,
  fields: { hits: number; limit: number; refuses?: Refuses },
): Count {
  const seconds = Math.floor(now / 1000);
  return makeCount({ stem, windowSize: size, windowStart: seconds - (seconds % size), ...fields });
}

const results = (counts: readonly Count[]) => counts.map(({ outcome, after }) => [outcome, after]);

describe("embedded store against a Map", () => {
  test("has the same results for any sequence of counts, windows and times", () => {
    fc.assert(
      fc.property(steps(KEYS.length), fc.constantFrom(64 * 1024, 20 * 1024 ** 2), (sequence, sizeInBytes) => {
        const store = EmbeddedStore.create({ sizeInBytes, reclaimInterval: 0 });
        const model = new ModelStore();
        let now = START;
        for (const step of sequence) {
          now += step.advance;
          // A thread may have read its clock slightly before another thread that has already counted.
          const at = now - step.lag;
          const counts = step.counts.map(({ key, ...fields }) =>
            countAt(KEYS[key]!, SIZES[key % SIZES.length]!, at, fields),
          );
          const request = makeRequest(counts, { holdBack: step.holdBack, now: at });
          const expected = model.count(request);
          store.count(request);
          assert.deepEqual(results(counts), expected);
        }
        assert.equal(store.statistics().evicted, 0);
      }),
      { numRuns: 300 },
    );
  });

  test("has the same results through two threads' views", () => {
    fc.assert(
      fc.property(steps(KEYS.length), fc.infiniteStream(fc.boolean()), (sequence, turns) => {
        const store = EmbeddedStore.create({ sizeInBytes: 64 * 1024, reclaimInterval: 0 });
        const peer = EmbeddedStore.attach(store.share());
        const model = new ModelStore();
        let now = START;
        for (const step of sequence) {
          now += step.advance;
          const counts = step.counts.map(({ key, ...fields }) =>
            countAt(KEYS[key]!, SIZES[key % SIZES.length]!, now, fields),
          );
          const request = makeRequest(counts, { holdBack: step.holdBack, now });
          const expected = model.count(request);
          (turns.next().value ? peer : store).count(request);
          assert.deepEqual(results(counts), expected);
        }
      }),
      { numRuns: 150 },
    );
  });

  test("a full store evicts only whole counters and counts each eviction", () => {
    const oneHit = fc.record({ key: fc.nat({ max: 3000 }), size: fc.constantFrom(...SIZES) });
    const burst = fc.record({
      advance: fc.integer({ min: 0, max: 3000 }),
      hits: fc.array(oneHit, { minLength: 200, maxLength: 600 }),
    });
    fc.assert(
      fc.property(fc.array(burst, { minLength: 2, maxLength: 6 }), (bursts) => {
        const store = EmbeddedStore.create({ sizeInBytes: 64 * 1024, reclaimInterval: 0 });
        const known = new Map<string, number>();
        let created = 0;
        let forgotten = 0;
        let now = START;
        for (const { advance, hits } of bursts) {
          now += advance;
          for (const { key, size } of hits) {
            const limits = { hits: 1, limit: 1e9 };
            const counts = [countAt(`d|address=10.0.0.${key}|${size}:`, size, now, limits)];
            // Some counts come in pairs: creating one counter may evict the other.
            if (key % 3 === 0) counts.push(countAt(`d|pair=${key % 50}|${size}:`, size, now, limits));
            store.count(
              makeRequest(counts, { now, holdBack: key % 2 === 0 ? HoldBack.WHEN_REFUSED : HoldBack.NEVER }),
            );
            for (const { stem, windowStart, after } of counts) {
              const name = stem + windowStart;
              const before = known.get(name) ?? 0;
              if (after === 1) {
                created += 1;
                if (before > 0) forgotten += 1;
              } else assert.equal(after, before + 1, name);
              known.set(name, after);
            }
          }
        }
        const { evicted, expired, liveCounters } = store.statistics();
        assert.equal(liveCounters + evicted + expired, created);
        assert.ok(forgotten <= evicted + expired, `${forgotten} forgotten, ${evicted} evicted`);
      }),
      { numRuns: 40 },
    );
  });
});
