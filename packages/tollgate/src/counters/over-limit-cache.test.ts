import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { makeCount, makeRequest, storeConformance } from "../../test/counters/conformance.ts";
import { ModelStore } from "../../test/counters/model.ts";
import { OverLimitCache } from "./over-limit-cache.ts";
import { type Count, type CounterStore, type CountRequest, Outcome } from "./store.ts";

const { COUNTED, KNOWN_OVER, EXCEEDS, HELD } = Outcome;
const NOW = 1_800_000_000_000;
const START = NOW / 1000;

/** A store over the model; answers at once, or when `answer` is called, in any order. */
class TestStore implements CounterStore {
  readonly kind = "test";
  readonly model = new ModelStore();
  readonly asked: CountRequest[] = [];
  readonly #waiting: (() => void)[] = [];
  late = false;
  closed = false;

  count(request: CountRequest): void | Promise<void> {
    this.asked.push(request);
    const results = this.model.count(request);
    const fill = () => {
      for (const [index, [outcome, after]] of results.entries())
        Object.assign(request.counts[index]!, { outcome, after });
    };
    if (this.late) return new Promise<void>((resolve) => this.#waiting.push(resolve)).then(fill);
    fill();
  }

  /** Answers the call that came as number `index` of those that wait. */
  answer(index: number): void {
    this.#waiting.splice(index, 1)[0]!();
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }
}

function setUp(sizeInBytes = 100_000) {
  const store = new TestStore();
  const cache = new OverLimitCache(store, { sizeInBytes });
  return { store, cache };
}

interface Fields {
  readonly stem?: string;
  readonly hits?: number;
  readonly limit?: number;
  readonly windowStart?: number;
  readonly windowSize?: number;
}

const countOf = ({ stem = "k:", limit = 3, ...fields }: Fields = {}): Count =>
  makeCount({ stem, limit, windowStart: START, windowSize: 60, ...fields });

/** `outcome after` of each count, for a store that answers at once. */
function run(cache: OverLimitCache, fields: Fields[], options: Partial<CountRequest> = {}) {
  const counts = fields.map(countOf);
  assert.equal(cache.count(makeRequest(counts, { now: NOW, ...options })), undefined);
  return counts.map(({ outcome, after }) => [outcome, after]);
}

storeConformance("over-limit cache, switched off", {
  makeStore: () => new OverLimitCache(new TestStore(), { sizeInBytes: 0 }),
});

describe("over-limit cache", () => {
  test("answers what has reached its limit without the store, until its window ends", () => {
    const { store, cache } = setUp();
    for (const value of [1, 2, 3]) assert.deepEqual(run(cache, [{}]), [[COUNTED, value]]);
    assert.deepEqual(run(cache, [{}]), [[KNOWN_OVER, 3]]);
    assert.deepEqual(run(cache, [{ hits: 100 }]), [[KNOWN_OVER, 3]]);
    assert.equal(store.asked.length, 3);
    assert.deepEqual(run(cache, [{ windowStart: START + 60 }], { now: NOW + 60_000 }), [[COUNTED, 1]]);
    assert.deepEqual(run(cache, [{}], { now: NOW + 60_000 }), [[COUNTED, 4]], "its window is over");
  });

  test("a limit of 0 is known after its first call, a limit that was jumped over too", () => {
    const { cache } = setUp();
    assert.deepEqual(run(cache, [{ limit: 0 }]), [[COUNTED, 1]]);
    assert.deepEqual(run(cache, [{ limit: 0 }]), [[KNOWN_OVER, 0]]);
    assert.deepEqual(run(cache, [{ stem: "jump:", hits: 50 }]), [[COUNTED, 50]]);
    assert.deepEqual(run(cache, [{ stem: "jump:" }]), [[KNOWN_OVER, 3]]);
  });

  test("a look asks the store, and is learnt from", () => {
    const { store, cache } = setUp();
    store.model.counters.set(`k:${START}`, 3);
    assert.deepEqual(run(cache, [{ hits: 0 }]), [[COUNTED, 3]]);
    assert.deepEqual(run(cache, [{ hits: 0 }]), [[COUNTED, 3]]);
    assert.deepEqual(run(cache, [{ hits: 1 }]), [[KNOWN_OVER, 3]]);
  });

  test("an entry holds for the limit that it was learnt with only", () => {
    const { cache } = setUp();
    run(cache, [{ hits: 3 }]);
    assert.deepEqual(run(cache, [{ limit: 5 }]), [[COUNTED, 4]]);
    assert.deepEqual(run(cache, [{ limit: 3 }]), [[KNOWN_OVER, 3]]);
    assert.deepEqual(run(cache, [{ limit: 5 }]), [[COUNTED, 5]]);
    assert.deepEqual(run(cache, [{ limit: 5 }]), [[KNOWN_OVER, 5]]);
    assert.equal(cache.gauges().overwriteCount, 1);
  });

  test("giving back drops it, in the same request too", () => {
    const { cache } = setUp();
    run(cache, [{ hits: 3 }]);
    assert.deepEqual(run(cache, [{ hits: -1 }]), [[COUNTED, 2]]);
    assert.deepEqual(run(cache, [{}]), [[COUNTED, 3]]);
    assert.deepEqual(run(cache, [{}, { hits: -2 }, {}]), [
      [KNOWN_OVER, 3],
      [COUNTED, 1],
      [COUNTED, 2],
    ]);
    assert.deepEqual(run(cache, [{}, { hits: -2 }]), [
      [COUNTED, 3],
      [COUNTED, 1],
    ]);
    assert.deepEqual(run(cache, [{}]), [[COUNTED, 2]]);
  });

  test("the counts of a request that are not known are counted", () => {
    const { store, cache } = setUp();
    run(cache, [{ stem: "a:", hits: 3 }]);
    assert.deepEqual(run(cache, [{ stem: "b:" }, { stem: "a:" }, { stem: "c:", hits: 2 }]), [
      [COUNTED, 1],
      [KNOWN_OVER, 3],
      [COUNTED, 2],
    ]);
    assert.deepEqual(
      store.asked.at(-1)!.counts.map(({ stem }) => stem),
      ["b:", "c:"],
    );
  });

  test("all or nothing with one known over: the others are looked at and held", () => {
    const { store, cache } = setUp();
    run(cache, [{ stem: "a:", hits: 3 }]);
    run(cache, [{ stem: "b:", hits: 1 }]);
    const request = [{ stem: "b:" }, { stem: "a:" }, { stem: "c:", hits: 9 }, { stem: "b:", hits: -1 }];
    for (let round = 0; round < 2; round++)
      assert.deepEqual(run(cache, request, { allOrNothing: true }), [
        [HELD, 1],
        [KNOWN_OVER, 3],
        [EXCEEDS, 0],
        [HELD, 1],
      ]);
    assert.equal(store.model.counters.get(`b:${START}`), 1);
    assert.equal(store.model.counters.get(`c:${START}`), 0);
    assert.deepEqual(run(cache, [{ stem: "a:" }], { allOrNothing: true }), [[KNOWN_OVER, 3]]);
  });

  test("all or nothing learns from what exceeds and from what is held", () => {
    const { cache } = setUp();
    run(cache, [{ stem: "a:", hits: 3, limit: 9 }]);
    assert.deepEqual(run(cache, [{ stem: "a:" }, { stem: "b:" }], { allOrNothing: true }), [
      [EXCEEDS, 3],
      [HELD, 0],
    ]);
    assert.deepEqual(run(cache, [{ stem: "a:" }]), [[KNOWN_OVER, 3]]);
    assert.deepEqual(run(cache, [{ stem: "b:" }]), [[COUNTED, 1]]);
  });

  test("what the store could not count is not learnt", () => {
    const { store, cache } = setUp();
    store.count = ({ counts }) => {
      for (const count of counts) Object.assign(count, { outcome: Outcome.DENIED, after: 99 });
    };
    assert.deepEqual(run(cache, [{}]), [[Outcome.DENIED, 99]]);
    assert.equal(cache.gauges().entryCount, 0);
  });

  describe("with a store that answers later", () => {
    test("an answer is learnt when it comes", async () => {
      const { store, cache } = setUp();
      store.late = true;
      const pending = cache.count(makeRequest([countOf({ hits: 3 })], { now: NOW }));
      store.answer(0);
      await pending;
      assert.deepEqual(run(cache, [{}]), [[KNOWN_OVER, 3]]);
    });

    test("an answer from before hits were given back is not learnt, in whatever order they come", async () => {
      for (const order of [
        [0, 0],
        [1, 0],
      ]) {
        const { store, cache } = setUp();
        store.late = true;
        const pending = [
          cache.count(makeRequest([countOf({ hits: 3 })], { now: NOW })),
          cache.count(makeRequest([countOf({ hits: -2 })], { now: NOW })),
        ];
        for (const index of order) store.answer(index);
        await Promise.all(pending);
        store.late = false;
        assert.deepEqual(run(cache, [{}]), [[COUNTED, 2]], order.join());
      }
    });

    test("giving back of other counters does not keep it from learning", async () => {
      const { store, cache } = setUp();
      store.late = true;
      const pending = cache.count(makeRequest([countOf({ hits: 3 })], { now: NOW }));
      store.late = false;
      for (let index = 0; index < 500; index++) run(cache, [{ stem: `${index}:`, hits: -1 }]);
      store.answer(0);
      await pending;
      assert.deepEqual(run(cache, [{}]), [[KNOWN_OVER, 3]]);
    });

    test("more giving back than is remembered keeps it from learning, no more", async () => {
      const { store, cache } = setUp();
      store.late = true;
      const pending = cache.count(makeRequest([countOf({ hits: 3 })], { now: NOW }));
      store.late = false;
      for (let index = 0; index < 5000; index++) run(cache, [{ stem: `${index}:`, hits: -1 }]);
      store.answer(0);
      await pending;
      assert.deepEqual(run(cache, [{}]), [[COUNTED, 4]]);
      assert.deepEqual(run(cache, [{}]), [[KNOWN_OVER, 3]]);
    });

    test("giving back whose answer was lost may have been done: what was asked meanwhile is not learnt", async () => {
      const { store, cache } = setUp();
      const { promise, reject } = Promise.withResolvers<void>();
      const answered = store.count.bind(store);
      store.count = () => promise;
      const giving = cache.count(makeRequest([countOf({ hits: -3 })], { now: NOW }));
      store.count = answered;
      store.late = true;
      const counting = cache.count(makeRequest([countOf({ hits: 3 })], { now: NOW }));
      reject(new Error("time-out"));
      await assert.rejects(async () => giving, /time-out/);
      store.answer(0);
      await counting;
      assert.equal(cache.gauges().entryCount, 0);
    });

    test("an error goes through and teaches nothing", async () => {
      const { store, cache } = setUp();
      run(cache, [{ stem: "a:", hits: 3 }]);
      store.count = () => Promise.reject(new Error("away"));
      for (const allOrNothing of [false, true])
        await assert.rejects(
          async () =>
            cache.count(
              makeRequest([countOf({ stem: "a:" }), countOf({ stem: "b:" })], { now: NOW, allOrNothing }),
            ),
          /away/,
        );
      assert.equal(cache.gauges().entryCount, 1);
    });
  });

  test("it is bounded by bytes, gives up the oldest, and counts that", () => {
    const { cache } = setUp(10_000);
    for (let index = 0; index < 500; index++)
      run(cache, [{ stem: `d|address=10.0.0.${index}|minute:`, hits: 3 }]);
    const { entryCount, evacuateCount } = cache.gauges();
    assert.ok(entryCount > 40 && entryCount * 128 < 10_000, `${entryCount} entries`);
    assert.equal(entryCount + evacuateCount, 500);
    assert.deepEqual(run(cache, [{ stem: "d|address=10.0.0.499|minute:" }]), [[KNOWN_OVER, 3]]);
    assert.deepEqual(run(cache, [{ stem: "d|address=10.0.0.0|minute:" }]), [[COUNTED, 4]]);
  });

  test("a stem that is larger than the cache is counted and not kept", () => {
    const { cache } = setUp(1000);
    for (const value of [3, 6])
      assert.deepEqual(run(cache, [{ stem: "x".repeat(900), hits: 3 }]), [[COUNTED, value]]);
    for (const value of [3, 6])
      assert.deepEqual(run(cache, [{ stem: "日".repeat(450), hits: 3 }]), [[COUNTED, value]]);
    assert.deepEqual(cache.gauges().entryCount, 0);
  });

  test("what is over goes by itself as others come", () => {
    let monotonic = 0;
    const options = { sizeInBytes: 100_000, monotonic: () => monotonic };
    const cache = new OverLimitCache(new TestStore(), options);
    for (let index = 0; index < 100; index++) run(cache, [{ stem: `${index}:`, hits: 3, windowSize: 1 }]);
    monotonic = 60_000;
    for (let index = 0; index < 200; index++)
      run(cache, [{ stem: `later${index}:`, hits: 3, windowStart: START + 60 }], { now: NOW + 60_000 });
    assert.equal(cache.gauges().expiredCount, 100);
    assert.equal(cache.gauges().entryCount, 200);
  });

  test("a wall clock that steps forward and back drops no entry", () => {
    const options = { sizeInBytes: 100_000, monotonic: () => 0 };
    const store = new TestStore();
    const cache = new OverLimitCache(store, options);
    for (let index = 0; index < 100; index++) run(cache, [{ stem: `${index}:`, hits: 4 }]);
    for (let index = 0; index < 200; index++)
      run(cache, [{ stem: `later${index}:`, hits: 4, windowStart: START + 86_400 }], {
        now: NOW + 86_400_000,
      });
    const asked = store.asked.length;
    for (let index = 0; index < 100; index++)
      assert.deepEqual(run(cache, [{ stem: `${index}:` }]), [[KNOWN_OVER, 3]]);
    assert.equal(store.asked.length, asked);
  });

  test("the next window of the same counter takes the place of the last one", () => {
    const { cache } = setUp();
    run(cache, [{ hits: 3 }]);
    run(cache, [{ hits: 3, windowStart: START + 60 }], { now: NOW + 60_000 });
    const { entryCount, expiredCount, overwriteCount } = cache.gauges();
    assert.deepEqual([entryCount, expiredCount, overwriteCount], [1, 1, 0]);
  });

  test("forgetting some, and all", () => {
    const { cache } = setUp();
    for (const stem of ["a|x:", "a|y:", "b|x:"]) run(cache, [{ stem, hits: 3 }]);
    cache.forget((stem) => stem.startsWith("a|"));
    assert.equal(cache.gauges().entryCount, 1);
    assert.deepEqual(run(cache, [{ stem: "a|x:" }, { stem: "b|x:" }]), [
      [COUNTED, 4],
      [KNOWN_OVER, 3],
    ]);
    cache.clear();
    assert.deepEqual(run(cache, [{ stem: "b|x:" }]), [[COUNTED, 4]]);
  });

  test("gauges", () => {
    const { cache } = setUp();
    assert.equal(cache.gauges().averageAccessTime, 0);
    run(cache, [{ stem: "a:", hits: 3 }]);
    run(cache, [{ stem: "b:", hits: 3 }]);
    run(cache, [{ stem: "a:" }], { now: NOW + 10_000 });
    assert.deepEqual(cache.gauges(), {
      evacuateCount: 0,
      expiredCount: 0,
      entryCount: 2,
      averageAccessTime: START + 5,
      hitCount: 1,
      missCount: 2,
      lookupCount: 3,
      overwriteCount: 0,
    });
  });

  test("closing closes the store", async () => {
    const { store, cache } = setUp();
    await cache.close();
    assert.ok(store.closed);
  });

  test("no call is refused that the store alone would admit, and none over the limit is admitted", () => {
    const step = fc.record({
      key: fc.constantFrom("a:", "b:", "c:"),
      hits: fc.integer({ min: -3, max: 4 }),
      limit: fc.constantFrom(3, 3, 3, 5),
      advance: fc.constantFrom(0, 0, 0, 1000, 61_000),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), fc.constantFrom(200, 500, 10_000), (steps, size) => {
        const { store, cache } = setUp(size);
        let now = NOW;
        for (const { key, hits, limit, advance } of steps) {
          now += advance;
          const seconds = Math.floor(now / 1000);
          const count = countOf({ stem: key, hits, limit, windowStart: seconds - (seconds % 60) });
          const before = store.model.counters.get(key + count.windowStart) ?? 0;
          void cache.count(makeRequest([count], { now }));
          if (count.outcome === KNOWN_OVER) assert.ok(before >= limit && hits > 0);
          else assert.equal(count.after, Math.max(0, before + hits));
        }
      }),
      { numRuns: 300 },
    );
  });
});
