/** Tests of the counters that a full embedded store evicts. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { makeCount, makeRequest } from "../../../test/counters/conformance.ts";
import { HoldBack } from "../store.ts";
import { CounterTable } from "./counter-table.ts";
import { EmbeddedStore } from "./embedded-store.ts";
import { attachBlock, layoutOf } from "./layout.ts";
import { CLASS_COUNT, classOf, guaranteedSegments, listOf } from "./lists.ts";

const NOW = 1_800_000_000_000;
const LIMIT = 10;
/** Window sizes of each class, and of both lists for some classes. */
const SIZES = [1, 60, 3600, 18_000, 86_400, 604_800, 31_536_000];

function add(store: EmbeddedStore, stem: string, windowSize: number, hits = 1, limit = LIMIT): number {
  const windowStart = NOW / 1000 - ((NOW / 1000) % windowSize);
  const count = makeCount({ stem, hits, limit, windowSize, windowStart });
  store.count(makeRequest([count], { now: NOW }));
  return count.after;
}

const makeStore = (sizeInBytes: number) =>
  EmbeddedStore.create({ sizeInBytes, reclaimInterval: 0, clock: () => NOW, monotonic: () => 0 });

/** Words of the entries of each class, and how many of them are unprotected. */
function usage(store: EmbeddedStore): { words: number; unprotected: number }[] {
  const share = store.share();
  const table = new CounterTable(attachBlock(share.buffer), share.ticket);
  const classes = Array.from({ length: CLASS_COUNT }, () => ({ words: 0, unprotected: 0 }));
  for (const shard of table.shards)
    for (let segment = 0; segment < shard.segmentsTouched(); segment++)
      shard.forEach(segment, ({ start, end, isProtected, lengthField }) => {
        const one = classes[classOf(listOf(end - start))]!;
        one.words += 3 + Math.ceil((lengthField + 4) / 8);
        if (!isProtected) one.unprotected += 1;
      });
  store.workerExited(share);
  return classes;
}

test("the classes are up to a minute, up to an hour, up to a day, and longer, and share a quarter of the store", () => {
  for (const [length, index] of [
    [1, 0],
    [60, 0],
    [61, 1],
    [3600, 1],
    [3601, 2],
    [86_400, 2],
    [86_401, 3],
    [315_360_000, 3],
  ] as const)
    assert.equal(classOf(listOf(length)), index, `${length} s`);
  assert.equal(CLASS_COUNT, 4);
  assert.equal(guaranteedSegments(1600), 100);
});

describe("a full store", () => {
  test("keeps used-up counters of a minute and an hour among many keys of a day", () => {
    const store = makeStore(1024 ** 2);
    for (let index = 0; index < 100; index++) {
      add(store, `minute${index}:`, 60, LIMIT);
      add(store, `hour${index}:`, 3600, LIMIT);
    }
    for (let index = 0; index < 60_000; index++) add(store, `day${index}:`, 86_400);
    assert.ok(store.statistics().evicted > 20_000);
    assert.equal(store.statistics().evictedProtected, 0);
    for (let index = 0; index < 100; index++) {
      assert.equal(add(store, `minute${index}:`, 60, 0), LIMIT, `minute ${index}`);
      assert.equal(add(store, `hour${index}:`, 3600, 0), LIMIT, `hour ${index}`);
    }
  });

  for (const size of SIZES)
    test(`keeps used-up counters of any length among many keys of ${size} s, also with held-back counts`, () => {
      const store = makeStore(1024 ** 2);
      for (const own of SIZES)
        for (let index = 0; index < 50; index++) add(store, `own${own}.${index}:`, own, LIMIT);
      for (let index = 0; index < 30_000; index++) {
        const windowStart = NOW / 1000 - ((NOW / 1000) % size);
        const counts = ["a", "b"].map((name) =>
          makeCount({ stem: `${name}${index}:`, windowSize: size, windowStart }),
        );
        store.count(
          makeRequest(counts, {
            now: NOW,
            holdBack: index % 2 === 0 ? HoldBack.WHEN_REFUSED : HoldBack.NEVER,
          }),
        );
      }
      assert.ok(store.statistics().evicted > 20_000);
      assert.equal(store.statistics().evictedProtected, 0);
      for (const own of SIZES)
        for (let index = 0; index < 50; index++)
          assert.equal(add(store, `own${own}.${index}:`, own, 0), LIMIT, `${own} s, ${index}`);
    });

  test("keeps the guaranteed share of a minute and the newest used-up keys of a day", () => {
    const store = makeStore(1024 ** 2);
    for (let index = 0; index < 300; index++) add(store, `minute${index}:`, 60);
    const days = 40_000;
    for (let index = 0; index < days; index++) add(store, `day${index}:`, 86_400, LIMIT);
    const { evicted, evictedProtected, liveCounters } = store.statistics();
    assert.ok(evictedProtected > 10_000);
    assert.equal(evicted, evictedProtected);
    for (let index = 0; index < 300; index++) assert.equal(add(store, `minute${index}:`, 60, 0), 1);
    // The store evicted the oldest ones. The rest is the end of the sequence.
    for (let index = days - (liveCounters - 300); index < days; index++)
      assert.equal(add(store, `day${index}:`, 86_400, 0), LIMIT, `day ${index} of ${days}`);
  });

  for (const hits of [1, LIMIT])
    for (const [old, late] of [
      [10_000, 86_400],
      [86_400, 10_000],
    ] as const)
      test(`evicts the oldest counters of a class first: ${hits} hits, ${old} s before ${late} s`, () => {
        const store = makeStore(64 * 1024);
        const own = 300;
        for (const size of [old, late])
          for (let index = 0; index < own; index++) add(store, `own${size}.${index}:`, size, hits);
        assert.equal(store.statistics().evicted, 0);
        for (let index = 0; store.statistics().evicted < 200; index++)
          add(store, `more${index}:`, index % 2 ? old : late, hits);
        const left = (size: number) =>
          Array.from({ length: own }, (_, index) => add(store, `own${size}.${index}:`, size, 0)).filter(
            Boolean,
          );
        assert.equal(left(late).length, own);
        assert.ok(left(old).length < own);
      });

  test("gives a late class its guaranteed share of a store that another class has filled", () => {
    for (const hits of [1, LIMIT]) {
      const store = makeStore(1024 ** 2);
      for (let index = 0; index < 40_000; index++) add(store, `day${index}:`, 86_400, hits);
      for (let index = 0; index < 1000; index++) add(store, `minute${index}:`, 60);
      for (let index = 0; index < 40_000; index++) add(store, `later${index}:`, 86_400, hits);
      for (let index = 0; index < 1000; index++) assert.equal(add(store, `minute${index}:`, 60, 0), 1);
    }
  });

  test("protects a counter from the hit that uses up its limit until a refund or a higher limit", () => {
    const flood = (store: EmbeddedStore) => {
      for (let index = 0; index < 10_000; index++) add(store, `flood${index}:`, 60);
    };
    const after = (change: (store: EmbeddedStore) => void) => {
      const store = makeStore(64 * 1024);
      change(store);
      flood(store);
      return add(store, "k:", 60, 0);
    };
    assert.equal(
      after((store) => add(store, "k:", 60, LIMIT)),
      LIMIT,
    );
    assert.equal(
      after((store) => add(store, "k:", 60, LIMIT + 5)),
      LIMIT + 5,
    );
    assert.equal(
      after((store) => [LIMIT - 1, 1].map((hits) => add(store, "k:", 60, hits))),
      LIMIT,
    );
    assert.equal(
      after((store) => add(store, "k:", 60, LIMIT - 1)),
      0,
    );
    assert.equal(
      after((store) => [LIMIT, -1].map((hits) => add(store, "k:", 60, hits))),
      0,
    );
    assert.equal(
      after((store) => [100, 1000].map((limit) => add(store, "k:", 60, 50, limit))),
      0,
    );
    const thenLooked = (store: EmbeddedStore) => [add(store, "k:", 60, LIMIT), add(store, "k:", 60, 0, 1000)];
    assert.equal(after(thenLooked), LIMIT, "a look changes nothing");
    assert.equal(
      after((store) => [1000, 100].map((limit) => add(store, "k:", 60, 50, limit))),
      100,
    );
  });
});

/** A sequence of counts: keys of all lengths, some of them used up, some refunded. */
const sequences = fc.array(
  fc.record({
    size: fc.constantFrom(...SIZES),
    keys: fc.integer({ min: 1, max: 400 }),
    hits: fc.constantFrom(1, 1, LIMIT - 1, LIMIT, LIMIT + 3, -2),
    repeat: fc.integer({ min: 1, max: 3 }),
  }),
  { minLength: 3, maxLength: 25 },
);

describe("eviction against a model", () => {
  for (const threads of [1, 2])
    test(`evicts protected counters last and keeps guaranteed shares, with ${threads} view(s)`, () => {
      const sizeInBytes = 64 * 1024;
      const { segments, segmentWords } = layoutOf(sizeInBytes);
      const guaranteed = guaranteedSegments(segments) * segmentWords;
      fc.assert(
        fc.property(sequences, (sequence) => {
          const store = makeStore(sizeInBytes);
          const views = [store, EmbeddedStore.attach(store.share())].slice(0, threads);
          const known = new Map<string, { size: number; count: number }>();
          let turn = 0;
          let created = 0;
          let protectedBefore = 0;
          for (const [step, { size, keys, hits, repeat }] of sequence.entries())
            for (let key = 0; key < keys * repeat; key++) {
              const stem = `${hits < 0 ? step - 1 : step}|key=${100 + (key % keys)}:`;
              const { evicted } = store.statistics();
              const own = known.get(stem);
              const after = add(views[turn++ % threads]!, stem, own?.size ?? size, hits);
              const expected = Math.max((own?.count ?? 0) + hits, 0);
              if (after !== expected) {
                assert.equal(after, Math.max(hits, 0), "an evicted counter starts at 0");
                assert.ok(evicted > 0, "only eviction resets a counter");
              }
              if (after > 0 && (own === undefined || after !== expected)) created += 1;
              if (after > 0 || own !== undefined) known.set(stem, { size: own?.size ?? size, count: after });
              const { evictedProtected } = store.statistics();
              if (evictedProtected === protectedBefore) continue;
              protectedBefore = evictedProtected;
              for (const [index, { words, unprotected }] of usage(store).entries())
                if (words > guaranteed)
                  // The new entry may be unprotected.
                  assert.ok(unprotected <= 1, `class ${index} has ${unprotected} unprotected counters`);
            }
          const { liveCounters, evicted, expired, evictedProtected } = store.statistics();
          assert.equal(expired, 0);
          assert.ok(liveCounters + evicted >= created);
          let lost = 0;
          for (const [stem, { size, count }] of known) if (add(store, stem, size, 0) !== count) lost += 1;
          assert.ok(lost <= evicted, `${lost} lost, ${evicted} evicted`);
          if (evictedProtected === 0)
            for (const [stem, { size, count }] of known)
              if (count >= LIMIT) assert.equal(add(store, stem, size, 0), count, stem);
        }),
        { numRuns: 60 },
      );
    });
});
