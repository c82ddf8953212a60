import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { makeCount, makeRequest, storeConformance } from "../../test/counters/conformance.ts";
import { ModelStore } from "../../test/counters/model.ts";
import { Invalidations } from "./invalidations.ts";
import { OverLimitCache } from "./over-limit-cache.ts";
import { type Count, type CounterStore, type CountRequest, HoldBack, Outcome, Refuses } from "./store.ts";

const { COUNTED, KNOWN_OVER, HELD } = Outcome;
const { WHEN_REFUSED } = HoldBack;
const NOW = 1_800_000_000_000;
const START = NOW / 1000;

/** A store on the model. It answers at once, or when `answer` is called, in any order. */
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

  /** Answers the waiting call with this index. */
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
  readonly refuses?: Refuses;
  readonly windowStart?: number;
  readonly windowSize?: number;
}

const countOf = ({ stem = "k:", limit = 3, ...fields }: Fields = {}): Count =>
  makeCount({ stem, limit, windowStart: START, windowSize: 60, ...fields });

/** `outcome after` of each count. The store must answer at once. */
function run(cache: OverLimitCache, fields: Fields[], options: Partial<CountRequest> = {}) {
  const counts = fields.map(countOf);
  assert.equal(cache.count(makeRequest(counts, { now: NOW, ...options })), undefined);
  return counts.map(({ outcome, after }) => [outcome, after]);
}

storeConformance("over-limit cache, switched off", {
  makeStore: () => new OverLimitCache(new TestStore(), { sizeInBytes: 0 }),
});

describe("over-limit cache", () => {
  test("answers for a counter above its limit until its window ends", () => {
    const { store, cache } = setUp();
    for (const value of [1, 2, 3, 4]) assert.deepEqual(run(cache, [{}]), [[COUNTED, value]]);
    assert.deepEqual(run(cache, [{}]), [[KNOWN_OVER, 3]]);
    assert.deepEqual(run(cache, [{ hits: 100 }]), [[KNOWN_OVER, 3]]);
    assert.equal(store.asked.length, 4);
    assert.deepEqual(run(cache, [{ windowStart: START + 60 }], { now: NOW + 60_000 }), [[COUNTED, 1]]);
    assert.deepEqual(run(cache, [{}], { now: NOW + 60_000 }), [[COUNTED, 5]], "its window has ended");
  });

  test("reports refunds that bring a counter from above its limit to its limit or below", () => {
    for (const [before, hits, isLowered] of [
      [3, -1, false],
      [4, -1, true],
      [4, -100, true],
      [9, -5, false],
      [9, -6, true],
      [0, -1, false],
    ] as const) {
      const lowered: string[] = [];
      const store = new TestStore();
      const cache = new OverLimitCache(store, {
        sizeInBytes: 100_000,
        onLowered: (stem) => lowered.push(stem),
      });
      store.model.counters.set(`k:${START}`, before);
      run(cache, [{ hits: 0 }, { hits }]);
      // A refund below 0 may have begun above the limit.
      assert.deepEqual(
        lowered,
        isLowered || (before + hits < 0 && -hits > 3) ? ["k:"] : [],
        `${before} ${hits}`,
      );
    }
  });

  test("asks the store about a counter at its limit", () => {
    const { cache } = setUp();
    assert.deepEqual(run(cache, [{ hits: 3 }]), [[COUNTED, 3]]);
    for (let round = 0; round < 2; round++) assert.deepEqual(run(cache, [{ hits: 0 }]), [[COUNTED, 3]]);
    assert.equal(cache.gauges().entryCount, 0);
    assert.deepEqual(run(cache, [{ hits: 1 }]), [[COUNTED, 4]]);
    assert.deepEqual(run(cache, [{ hits: 0 }]), [[KNOWN_OVER, 3]]);
    const { hitCount, missCount, lookupCount } = cache.gauges();
    assert.deepEqual([hitCount, missCount, lookupCount], [1, 4, 5], "a read is also a lookup");
  });

  test("knows a limit of 0 after the first call, and a limit that a large hit exceeded", () => {
    const { cache } = setUp();
    assert.deepEqual(run(cache, [{ limit: 0, hits: 0 }]), [[COUNTED, 0]]);
    assert.deepEqual(run(cache, [{ limit: 0 }]), [[COUNTED, 1]]);
    assert.deepEqual(run(cache, [{ limit: 0 }]), [[KNOWN_OVER, 0]]);
    assert.deepEqual(run(cache, [{ stem: "jump:", hits: 50 }]), [[COUNTED, 50]]);
    assert.deepEqual(run(cache, [{ stem: "jump:" }]), [[KNOWN_OVER, 3]]);
  });

  test("learns from a look", () => {
    const { store, cache } = setUp();
    store.model.counters.set(`k:${START}`, 4);
    assert.deepEqual(run(cache, [{ hits: 0 }]), [[COUNTED, 4]]);
    assert.deepEqual(run(cache, [{ hits: 0 }]), [[KNOWN_OVER, 3]]);
    assert.equal(store.asked.length, 1);
  });

  test("an entry is valid only for its own limit", () => {
    const { cache } = setUp();
    run(cache, [{ hits: 4 }]);
    assert.deepEqual(run(cache, [{ limit: 5 }]), [[COUNTED, 5]]);
    assert.deepEqual(run(cache, [{ limit: 3 }]), [[KNOWN_OVER, 3]]);
    assert.deepEqual(run(cache, [{ limit: 5 }]), [[COUNTED, 6]]);
    assert.deepEqual(run(cache, [{ limit: 5 }]), [[KNOWN_OVER, 5]]);
    assert.equal(cache.gauges().overwriteCount, 1);
  });

  test("a refund drops the entry, also within one request", () => {
    const { cache } = setUp();
    run(cache, [{ hits: 4 }]);
    assert.deepEqual(run(cache, [{ hits: -1 }]), [[COUNTED, 3]]);
    assert.deepEqual(run(cache, [{}]), [[COUNTED, 4]]);
    assert.deepEqual(run(cache, [{}, { hits: -2 }, {}]), [
      [KNOWN_OVER, 3],
      [COUNTED, 2],
      [COUNTED, 3],
    ]);
    assert.deepEqual(run(cache, [{}, { hits: -2 }]), [
      [COUNTED, 4],
      [COUNTED, 2],
    ]);
    assert.deepEqual(run(cache, [{}]), [[COUNTED, 3]]);
  });

  test("sends unknown counts of a request to the store", () => {
    const { store, cache } = setUp();
    run(cache, [{ stem: "a:", hits: 4 }]);
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

  test("a known count holds the others back, and other exceeding counts are counted", () => {
    const { store, cache } = setUp();
    run(cache, [{ stem: "a:", hits: 4 }]);
    run(cache, [{ stem: "b:", hits: 1 }]);
    const request = [{ stem: "b:" }, { stem: "a:" }, { stem: "c:", hits: 9 }, { stem: "b:", hits: -1 }];
    assert.deepEqual(run(cache, request, { holdBack: WHEN_REFUSED }), [
      [HELD, 1],
      [KNOWN_OVER, 3],
      [COUNTED, 9],
      [COUNTED, 0],
    ]);
    assert.deepEqual(run(cache, request, { holdBack: WHEN_REFUSED }), [
      [HELD, 0],
      [KNOWN_OVER, 3],
      [KNOWN_OVER, 3],
      [COUNTED, 0],
    ]);
    assert.equal(store.model.counters.get(`b:${START}`), 0);
    assert.deepEqual(run(cache, [{ stem: "a:" }], { holdBack: WHEN_REFUSED }), [[KNOWN_OVER, 3]]);
  });

  const { NEVER, ALWAYS, TOGETHER } = Refuses;
  const known: [string, Refuses, rest: [Refuses, limit: number][], held: boolean][] = [
    ["a count that refuses", ALWAYS, [], true],
    ["one in shadow mode", NEVER, [], false],
    ["the only quota", TOGETHER, [], true],
    ["one quota of two", TOGETHER, [[TOGETHER, 9]], false],
    ["one quota of two, the other one exceeds now", TOGETHER, [[TOGETHER, 0]], true],
  ];
  for (const [name, refuses, rest, held] of known)
    test(`${name}: a known count ${held ? "holds" : "does not hold"} the others back`, () => {
      const { cache } = setUp();
      run(cache, [{ stem: "known:", hits: 4 }]);
      const others = rest.map(([refuses, limit], index) => ({ stem: `${index}:`, refuses, limit }));
      const results = run(cache, [{ stem: "plain:" }, { stem: "known:", refuses }, ...others], {
        holdBack: WHEN_REFUSED,
      });
      assert.deepEqual(results.slice(0, 2), [held ? [HELD, 0] : [COUNTED, 1], [KNOWN_OVER, 3]]);
    });

  test("does not learn from counts that the store did not perform", () => {
    const { store, cache } = setUp();
    store.count = ({ counts }) => {
      for (const count of counts) Object.assign(count, { outcome: Outcome.DENIED, after: 99 });
    };
    assert.deepEqual(run(cache, [{}]), [[Outcome.DENIED, 99]]);
    assert.equal(cache.gauges().entryCount, 0);
  });

  describe("with a store that answers later", () => {
    test("learns when the answer arrives", async () => {
      const { store, cache } = setUp();
      store.late = true;
      const pending = cache.count(makeRequest([countOf({ hits: 4 })], { now: NOW }));
      store.answer(0);
      await pending;
      store.late = false;
      assert.deepEqual(run(cache, [{}]), [[KNOWN_OVER, 3]]);
    });

    test("does not learn an answer from before a refund, in any order", async () => {
      for (const order of [
        [0, 0],
        [1, 0],
      ]) {
        const { store, cache } = setUp();
        store.late = true;
        const pending = [
          cache.count(makeRequest([countOf({ hits: 4 })], { now: NOW })),
          cache.count(makeRequest([countOf({ hits: -3 })], { now: NOW })),
        ];
        for (const index of order) store.answer(index);
        await Promise.all(pending);
        store.late = false;
        assert.deepEqual(run(cache, [{}]), [[COUNTED, 2]], order.join());
      }
    });

    test("learns despite refunds of other counters", async () => {
      const { store, cache } = setUp();
      store.late = true;
      const pending = cache.count(makeRequest([countOf({ hits: 4 })], { now: NOW }));
      store.late = false;
      for (let index = 0; index < 500; index++) run(cache, [{ stem: `${index}:`, hits: -1 }]);
      store.answer(0);
      await pending;
      assert.deepEqual(run(cache, [{}]), [[KNOWN_OVER, 3]]);
    });

    test("does not learn concurrent answers when the answer to a refund is lost", async () => {
      const { store, cache } = setUp();
      const { promise, reject } = Promise.withResolvers<void>();
      const answered = store.count.bind(store);
      store.count = () => promise;
      const giving = cache.count(makeRequest([countOf({ hits: -3 })], { now: NOW }));
      store.count = answered;
      store.late = true;
      const counting = cache.count(makeRequest([countOf({ hits: 4 })], { now: NOW }));
      reject(new Error("timeout"));
      await assert.rejects(async () => giving, /timeout/);
      store.answer(0);
      await counting;
      assert.equal(cache.gauges().entryCount, 0);
    });

    test("passes errors on and learns nothing from them", async () => {
      const { store, cache } = setUp();
      run(cache, [{ stem: "a:", hits: 4 }]);
      store.count = () => Promise.reject(new Error("away"));
      for (const holdBack of [HoldBack.NEVER, WHEN_REFUSED])
        await assert.rejects(
          async () =>
            cache.count(
              makeRequest([countOf({ stem: "a:" }), countOf({ stem: "b:" })], { now: NOW, holdBack }),
            ),
          /away/,
        );
      assert.equal(cache.gauges().entryCount, 1);
    });
  });

  test("is bounded in bytes, drops the oldest entry and counts that", () => {
    const { cache } = setUp(10_000);
    for (let index = 0; index < 500; index++)
      run(cache, [{ stem: `d|address=10.0.0.${index}|minute:`, hits: 4 }]);
    const { entryCount, evacuateCount } = cache.gauges();
    assert.ok(entryCount > 40 && entryCount * 144 < 10_000, `${entryCount} entries`);
    assert.equal(entryCount + evacuateCount, 500);
    assert.deepEqual(run(cache, [{ stem: "d|address=10.0.0.499|minute:" }]), [[KNOWN_OVER, 3]]);
    assert.deepEqual(run(cache, [{ stem: "d|address=10.0.0.0|minute:" }]), [[COUNTED, 5]]);
  });

  test("counts a stem larger than the cache without an entry", () => {
    const { cache } = setUp(1000);
    for (const value of [4, 8])
      assert.deepEqual(run(cache, [{ stem: "x".repeat(900), hits: 4 }]), [[COUNTED, value]]);
    for (const value of [4, 8])
      assert.deepEqual(run(cache, [{ stem: "日".repeat(450), hits: 4 }]), [[COUNTED, value]]);
    assert.deepEqual(cache.gauges().entryCount, 0);
  });

  test("drops ended entries as new ones arrive", () => {
    let monotonic = 0;
    const options = { sizeInBytes: 100_000, monotonic: () => monotonic };
    const cache = new OverLimitCache(new TestStore(), options);
    for (let index = 0; index < 100; index++) run(cache, [{ stem: `${index}:`, hits: 4, windowSize: 1 }]);
    monotonic = 60_000;
    for (let index = 0; index < 200; index++)
      run(cache, [{ stem: `later${index}:`, hits: 4, windowStart: START + 60 }], { now: NOW + 60_000 });
    assert.equal(cache.gauges().expiredCount, 100);
    assert.equal(cache.gauges().entryCount, 200);
  });

  test("keeps entries when the wall clock steps forward and back", () => {
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

  test("the next window of a counter replaces the last one", () => {
    const { cache } = setUp();
    run(cache, [{ hits: 4 }]);
    run(cache, [{ hits: 4, windowStart: START + 60 }], { now: NOW + 60_000 });
    const { entryCount, expiredCount, overwriteCount } = cache.gauges();
    assert.deepEqual([entryCount, expiredCount, overwriteCount], [1, 1, 0]);
  });

  describe("of several threads", () => {
    /** Caches of two threads over one store. */
    function setUpTwo() {
      const store = new TestStore();
      const invalidations = new Invalidations();
      const [one, two] = [invalidations, new Invalidations(invalidations.buffer)].map(
        (invalidations) => new OverLimitCache(store, { sizeInBytes: 100_000, invalidations }),
      ) as [OverLimitCache, OverLimitCache];
      return { store, invalidations, one, two };
    }

    test("a refund in one thread drops the entry in the other", () => {
      const { one, two } = setUpTwo();
      for (const cache of [one, two]) run(cache, [{ hits: 4 }]);
      for (const cache of [one, two]) assert.deepEqual(run(cache, [{}]), [[KNOWN_OVER, 3]]);
      assert.deepEqual(run(one, [{ hits: -6 }]), [[COUNTED, 2]]);
      assert.deepEqual(run(two, [{}]), [[COUNTED, 3]]);
      assert.deepEqual(run(one, [{}]), [[COUNTED, 4]]);
      assert.deepEqual(run(two, [{}]), [[COUNTED, 5]]);
      assert.deepEqual(run(two, [{}]), [[KNOWN_OVER, 3]]);
    });

    test("does not learn a count that overlaps another thread's refund", async () => {
      const { store, one, two } = setUpTwo();
      store.late = true;
      const pending = one.count(makeRequest([countOf({ hits: 4 })], { now: NOW }));
      store.late = false;
      run(two, [{ hits: -3 }]);
      store.answer(0);
      await pending;
      assert.deepEqual(run(one, [{}]), [[COUNTED, 2]]);
    });

    test("invalidates all entries in every thread at once", () => {
      const { invalidations, one, two } = setUpTwo();
      for (const cache of [one, two]) for (const stem of ["a:", "b:"]) run(cache, [{ stem, hits: 4 }]);
      invalidations.invalidateAll();
      for (const [cache, value] of [
        [one, 9],
        [two, 10],
      ] as const)
        for (const stem of ["a:", "b:"]) assert.deepEqual(run(cache, [{ stem }]), [[COUNTED, value]]);
    });
  });

  test("reports its gauges", () => {
    const { cache } = setUp();
    assert.equal(cache.gauges().averageAccessTime, 0);
    run(cache, [{ stem: "a:", hits: 4 }]);
    run(cache, [{ stem: "b:", hits: 4 }]);
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

  test("closes the store", async () => {
    const { store, cache } = setUp();
    await cache.close();
    assert.ok(store.closed);
  });

  test("admits the same calls as the store alone", () => {
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
          if (count.outcome === KNOWN_OVER) assert.ok(before > limit && hits >= 0);
          else assert.equal(count.after, Math.max(0, before + hits));
        }
      }),
      { numRuns: 300 },
    );
  });
});
