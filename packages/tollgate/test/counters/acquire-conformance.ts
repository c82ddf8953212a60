/**
 * The conformance suite of `CounterStore.acquire`, for every store that has it: the results of the model under a virtual
 * clock, and the promises of each algorithm. Times come from the requests: a store that reads its server's clock must
 * use the request's instant in this suite.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, type TestContext, test } from "node:test";
import fc from "fast-check";
import type { AlgorithmName } from "../../src/counters/algorithms/algorithm.ts";
import { algorithms } from "../../src/counters/algorithms/algorithms.ts";
import type { Grant } from "../../src/counters/counter-admin.ts";
import {
  type AcquireGroup,
  type AcquireLimit,
  type AcquireRequest,
  type CounterStore,
  HoldBack,
  MAX_COUNT,
  Outcome,
  Refuses,
} from "../../src/counters/store.ts";
import { AcquireModel } from "./acquire-model.ts";

export interface AcquireConformanceOptions {
  /** Opens a store. The suite closes it. Use `t.after` for everything else. */
  readonly makeStore: (t: TestContext) => CounterStore | Promise<CounterStore>;
  /** Opens a second store on the same counters, like another process. Without it, tests with two stores are left out. */
  readonly makePeer?: (t: TestContext, store: CounterStore) => CounterStore | Promise<CounterStore>;
  /** Default: all. */
  readonly algorithms?: readonly AlgorithmName[];
  /**
   * Resolves when every answered hit is in the store. For stores that answer before they count: their results must be
   * exact in sequence only, and a request has each counter once.
   */
  readonly settle?: (store: CounterStore) => Promise<void>;
  /** Whether random requests have each counter once: stores that decide in several steps take refunds first. */
  readonly distinct?: boolean;
  /** Grants hits above a limit. Without it, the comparison with the model grants none. */
  readonly grant?: (store: CounterStore, grant: Grant) => Promise<void>;
  /** Random sequences of the comparison with the model. Default 60. */
  readonly runs?: number;
}

export interface LimitFields {
  readonly stem: string;
  readonly algorithm?: AlgorithmName;
  readonly limit?: number;
  readonly burst?: number;
  readonly windowSize?: number;
  readonly reservations?: boolean;
}

/** A limit with impossible results, so that tests notice a missing result. @param now milliseconds */
export function makeLimit(fields: LimitFields, now: number): AcquireLimit {
  const { stem, limit = 10, windowSize = 3600 } = fields;
  const algorithm = algorithms[fields.algorithm ?? "fixed_window"];
  const seconds = Math.floor(now / 1000);
  return {
    stem,
    algorithm,
    limit,
    burst: fields.burst ?? limit,
    windowStart: algorithm.perWindow ? seconds - (seconds % windowSize) : 0,
    windowSize,
    reservations: fields.reservations ?? false,
    accepted: undefined as unknown as boolean,
    used: -1,
    remaining: -1,
    reset: -1,
  };
}

export interface GroupFields {
  readonly limits: readonly LimitFields[];
  readonly hits?: number;
  readonly refuses?: Refuses;
}

export function makeGroup(
  { limits, hits = 1, refuses = Refuses.ALWAYS }: GroupFields,
  now: number,
): AcquireGroup {
  return {
    limits: limits.map((limit) => makeLimit(limit, now)),
    hits,
    refuses,
    outcome: -1 as Outcome,
    accepted: undefined as unknown as boolean,
  };
}

export function makeAcquire(
  groups: readonly GroupFields[],
  now: number,
  holdBack: HoldBack = HoldBack.NEVER,
): AcquireRequest {
  return { groups: groups.map((group) => makeGroup(group, now)), holdBack, now, deadline: 0 };
}

/** The results of a request, for comparisons. */
export function resultsOf({ groups }: AcquireRequest): unknown {
  return groups.map(({ outcome, accepted, limits }) => ({
    outcome,
    accepted,
    limits: limits.map(({ accepted, used, remaining, reset }) => ({ accepted, used, remaining, reset })),
  }));
}

/** The descriptors of the random requests: lists, and single limits of each algorithm. A number is a window's size. */
const shapes: readonly (readonly (readonly [AlgorithmName, number])[])[] = [
  [["fixed_window", 60]],
  [["fixed_window", 900]],
  [["accepted_window", 60]],
  [["sliding_window", 1]],
  [["sliding_window", 60]],
  [["token_bucket", 1]],
  [["token_bucket", 60]],
  [["token_bucket", 86_400]],
  [
    ["accepted_window", 1],
    ["accepted_window", 3600],
  ],
  [
    ["sliding_window", 60],
    ["token_bucket", 10],
    ["accepted_window", 86_400],
  ],
];

function isGrantable({ algorithm }: AcquireLimit): boolean {
  return algorithm.grant !== undefined;
}

const { ALWAYS, WHEN_REFUSED, NEVER } = HoldBack;

export function acquireConformance(name: string, options: AcquireConformanceOptions): void {
  const { makeStore, makePeer, settle } = options;
  const supported = options.algorithms ?? (Object.keys(algorithms) as AlgorithmName[]);
  const supports = (algorithm: AlgorithmName) => supported.includes(algorithm);
  const immediate = settle === undefined;

  async function open(t: TestContext): Promise<CounterStore> {
    const store = await makeStore(t);
    t.after(() => store.close());
    assert.ok(store.acquire, "the store has `acquire`");
    return store;
  }

  const acquire = async (store: CounterStore, request: AcquireRequest) => {
    await store.acquire!(request);
    await settle?.(store);
    return request;
  };

  const stemOf = (t: TestContext) => `conformance|${t.name.replaceAll(/\W+/g, "_")}=${randomUUID()}|`;

  describe(`${name}: conformance of acquire`, () => {
    test("has the results of the model for random requests under a virtual clock", async (t) => {
      const store = await open(t);
      const known = shapes
        .map((limits, shape) => ({ limits, shape }))
        .filter(({ limits }) => limits.every(([algorithm]) => supports(algorithm)));
      const group = fc.record({
        shape: fc.constantFrom(...known),
        limit: fc.integer({ min: 0, max: 6 }),
        hits: fc.oneof(
          { weight: 6, arbitrary: fc.integer({ min: -2, max: 3 }) },
          { weight: 1, arbitrary: fc.constantFrom(MAX_COUNT, -MAX_COUNT) },
        ),
        refuses: fc.constantFrom(...Object.values(Refuses)),
      });
      // A state that has ended may be dropped. For a bucket this shows only when its limit changes.
      const bucketLimits = fc.integer({ min: 0, max: 6 });
      const step = fc.record({
        advance: fc.oneof(
          { weight: 4, arbitrary: fc.integer({ min: 0, max: 400 }) },
          { weight: 3, arbitrary: fc.integer({ min: 0, max: 70_000 }) },
          { weight: 1, arbitrary: fc.integer({ min: 0, max: 200_000_000 }) },
          { weight: 1, arbitrary: fc.integer({ min: -3000, max: 0 }) },
        ),
        holdBack: fc.constantFrom(NEVER, WHEN_REFUSED, WHEN_REFUSED, ALWAYS),
        granted: fc.oneof(
          { weight: 4, arbitrary: fc.constant(0) },
          { weight: 1, arbitrary: fc.integer({ min: 1, max: 5 }) },
        ),
        groups:
          immediate && options.distinct !== true
            ? fc.array(group, { minLength: 1, maxLength: 5 })
            : fc.uniqueArray(group, { minLength: 1, maxLength: 4, selector: ({ shape }) => shape.shape }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 25 }), bucketLimits, async (steps, bucketLimit) => {
          const model = new AcquireModel();
          const stem = stemOf(t);
          let now = Date.now();
          for (const { advance, holdBack, groups, granted } of steps) {
            now += advance;
            const fields = groups.map(({ shape, limit, hits, refuses }) => ({
              hits,
              refuses,
              limits: shape.limits.map(([algorithm, windowSize], index) => ({
                stem: `{${stem}${shape.shape}}${algorithm}:${windowSize}:`,
                algorithm,
                windowSize,
                limit: (algorithm === "token_bucket" ? bucketLimit : limit) * (index + 1),
                burst: 1 + bucketLimit,
              })),
            }));
            const expected = makeAcquire(fields, now, holdBack);
            model.acquire(expected);
            const found = await acquire(store, makeAcquire(fields, now, holdBack));
            assert.deepEqual(resultsOf(found), resultsOf(expected));
            const bucket = found.groups.flatMap(({ limits }) => limits).find(isGrantable);
            if (options.grant === undefined || granted === 0 || bucket === undefined) continue;
            const isListed = bucket.windowSize === 10;
            model.grant(bucket, granted, now);
            await options.grant(store, { limit: bucket, isListed, hits: granted, now });
          }
        }),
        { numRuns: options.runs ?? 60 },
      );
    });

    for (const algorithm of supported.filter((one) => one !== "fixed_window"))
      test(`${algorithm}: of three hits of one request with two left, the first two pass`, async (t) => {
        if (!immediate) return;
        const store = await open(t);
        const limits = [{ stem: `${stemOf(t)}${algorithm}:`, algorithm, limit: 2 }];
        const found = await acquire(store, makeAcquire([{ limits }, { limits }, { limits }], Date.now()));
        assert.deepEqual(
          found.groups.map((group) => [group.accepted, group.limits[0]!.remaining]),
          [
            [true, 1],
            [true, 0],
            [false, 0],
          ],
        );
      });

    for (const algorithm of supported.filter((one) => one !== "fixed_window"))
      test(`${algorithm}: hits pass together or not at all, and refused hits are not counted`, async (t) => {
        const store = await open(t);
        const now = Date.now();
        const limits = [{ stem: `${stemOf(t)}${algorithm}:`, algorithm, limit: 5, windowSize: 86_400 }];
        const ask = async (hits: number) => {
          const [group] = (await acquire(store, makeAcquire([{ limits, hits }], now))).groups;
          return [group!.accepted, group!.limits[0]!.used];
        };
        assert.deepEqual(await ask(0), [true, 0]);
        assert.deepEqual(await ask(3), [true, 3]);
        assert.deepEqual(await ask(3), [false, 3]);
        assert.deepEqual(await ask(2), [true, 5]);
        assert.deepEqual(await ask(0), [false, 5]);
        assert.deepEqual(await ask(-1), [true, 4]);
        assert.deepEqual(await ask(0), [true, 4]);
        assert.deepEqual(await ask(-MAX_COUNT), [true, 0]);
        assert.deepEqual(await ask(6), [false, 0]);
      });

    for (const reservations of [false, true])
      test(`limits of one request with one key each decide with their own number (reservations: ${reservations})`, async (t) => {
        if (!immediate) return;
        const store = await open(t);
        const now = Date.now();
        const stem = `${stemOf(t)}hour:`;
        const limits = [{ stem, algorithm: "accepted_window" as const, limit: 2, reservations }];
        const other = [{ stem, limit: 100 }];
        const asked: GroupFields[][] = [
          [
            { limits, hits: 2 },
            { limits: other, hits: 5 },
          ],
          [{ limits, hits: 1 }],
          [{ limits: other, hits: 1 }],
        ];
        const requests = asked.map((groups) => makeAcquire(groups, now));
        await Promise.all(requests.map((request) => acquire(store, request)));
        requests.push(await acquire(store, makeAcquire([{ limits: other, hits: 0 }], now)));
        assert.deepEqual(
          requests.flatMap(({ groups }) => groups.map(({ accepted, limits }) => [accepted, limits[0]!.used])),
          [
            [true, 2],
            [true, 7],
            [false, 7],
            [true, 8],
            [true, 8],
          ],
        );
      });

    test("a list counts in every limit or in none", async (t) => {
      const store = await open(t);
      const now = Date.now();
      const stem = stemOf(t);
      const list = (["accepted_window", "token_bucket"] as const).filter(supports);
      const limits = [
        ...list.map((algorithm) => ({
          stem: `{${stem}}${algorithm}:`,
          algorithm,
          limit: 10,
          windowSize: 86_400,
        })),
        { stem: `{${stem}}tight:`, algorithm: "accepted_window" as const, limit: 3, windowSize: 86_400 },
      ];
      const ask = async (hits: number) => {
        const [group] = (await acquire(store, makeAcquire([{ limits, hits }], now))).groups;
        assert.equal(group!.outcome, Outcome.COUNTED);
        return [group!.accepted, ...group!.limits.map(({ accepted, used }) => (accepted ? used : -used))];
      };
      const both = (used: number) => list.map(() => used);
      assert.deepEqual(await ask(3), [true, ...both(3), 3]);
      assert.deepEqual(await ask(1), [false, ...both(3), -3]);
      assert.deepEqual(await ask(-1), [true, ...both(2), 2]);
      assert.deepEqual(await ask(1), [true, ...both(3), 3]);
    });

    if (immediate)
      for (const algorithm of supported.filter((one) => one !== "fixed_window"))
        test(`${algorithm}: concurrent requests are accepted exactly up to the limit`, async (t) => {
          const store = await open(t);
          const peer = (await makePeer?.(t, store)) ?? store;
          if (peer !== store) t.after(() => peer.close());
          const now = Date.now();
          const limits = [{ stem: `${stemOf(t)}${algorithm}:`, algorithm, limit: 40, windowSize: 86_400 }];
          const requests = Array.from({ length: 200 }, () => makeAcquire([{ limits }], now));
          await Promise.all(requests.map((request, index) => (index % 2 ? peer : store).acquire!(request)));
          const accepted = requests.filter(({ groups }) => groups[0]!.accepted);
          assert.equal(accepted.length, 40);
          assert.deepEqual(
            accepted.map(({ groups }) => groups[0]!.limits[0]!.used).sort((a, b) => a - b),
            accepted.map((_, index) => index + 1),
          );
        });

    test("plain fixed windows share their counters with `count`", async (t) => {
      const store = await open(t);
      const now = Date.now();
      const stem = `${stemOf(t)}hour:`;
      const request = makeAcquire([{ limits: [{ stem, limit: 5 }], hits: 4 }], now);
      await acquire(store, request);
      const { windowStart, windowSize } = request.groups[0]!.limits[0]!;
      const count = {
        stem,
        windowStart,
        windowSize,
        hits: 2,
        limit: 5,
        refuses: Refuses.ALWAYS,
        outcome: Outcome.COUNTED as Outcome,
        after: -1,
      };
      await store.count({ counts: [count], holdBack: NEVER, now, deadline: 0 });
      await settle?.(store);
      assert.equal(count.after, 6);
      const found = await acquire(store, makeAcquire([{ limits: [{ stem, limit: 5 }] }], now));
      assert.deepEqual(
        found.groups.map(({ accepted, limits }) => [accepted, limits[0]!.used]),
        [[false, 7]],
      );
    });
  });
}
