/**
 * The conformance suite of `ReservationStore.settle`, for every store that keeps holds: the results of the model under
 * a virtual clock, and the promises of a reservation. Times come from the requests, as in `acquire-conformance.ts`.
 */
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { describe, type TestContext, test } from "node:test";
import fc from "fast-check";
import type { AlgorithmName } from "../../src/counters/algorithms/algorithm.ts";
import { algorithms } from "../../src/counters/algorithms/algorithms.ts";
import {
  type ReservationRequest,
  type ReservationStore,
  type ReservedGroup,
  Step,
  type Token,
  Verdict,
} from "../../src/counters/reservations.ts";
import { HoldBack, Refuses } from "../../src/counters/store.ts";
import { type CounterOf, readCountersWithHolds } from "../../src/decision/counters-of.ts";
import { type LimitFields, makeAcquire, makeGroup, resultsOf } from "./acquire-conformance.ts";
import { ReservationModel } from "./reservation-model.ts";

export interface ReservationConformanceOptions {
  /** Opens a store. The suite closes it. */
  readonly makeStore: (t: TestContext) => ReservationStore | Promise<ReservationStore>;
  /** Opens a second store on the same counters, like another process. */
  readonly makePeer: (
    t: TestContext,
    store: ReservationStore,
  ) => ReservationStore | Promise<ReservationStore>;
  /** Whether random requests have one descriptor: a cluster decides several in several steps. */
  readonly single?: boolean;
  /** Whether every ended hold is reported. Default true. */
  readonly endsAreReported?: boolean;
  /** Whether steps that are asked for at once take effect in their order. Default false. */
  readonly keepsOrder?: boolean;
  /** Random sequences of the comparison with the model. Default 60. */
  readonly runs?: number;
}

export interface SettleFields {
  readonly step: Step;
  readonly limits?: readonly LimitFields[];
  readonly groups?: readonly {
    readonly limits: readonly LimitFields[];
    readonly hits: number;
    readonly refuses?: Refuses;
  }[];
  readonly hits?: number;
  readonly token?: Token;
  readonly ttl?: number;
  readonly maxHolds?: number;
  /** The instant of the reservation, in milliseconds. Default: the request's instant. */
  readonly home?: number;
}

export function newToken(): Token {
  const bytes = randomBytes(16);
  return [0, 4, 8, 12].map((at) => bytes.readInt32LE(at)) as unknown as Token;
}

/** @param now milliseconds */
export function makeSettle(fields: SettleFields, now: number): ReservationRequest {
  const { step, limits = [], hits = 1, token, ttl = 600_000, maxHolds = 10_000, home = now } = fields;
  const groups = (fields.groups ?? [{ limits, hits }]).map((group): ReservedGroup => {
    const made = makeGroup(group, now);
    return {
      ...made,
      lead: 0,
      released: -1,
      expired: -1,
      restored: -1,
      limits: made.limits.map((limit) => {
        const seconds = Math.floor(home / 1000);
        const homeStart = limit.algorithm.perWindow ? seconds - (seconds % limit.windowSize) : 0;
        return { ...limit, homeStart, held: -1 };
      }),
    };
  });
  return {
    step,
    groups,
    token,
    ttl,
    maxHolds,
    now,
    deadline: 0,
    verdict: -1 as Verdict,
    released: undefined as unknown as boolean,
    repeated: undefined as unknown as boolean,
  };
}

/** @param withEnded whether hits of ended holds are compared, too */
export function settleResultsOf(request: ReservationRequest, withEnded: boolean): unknown {
  const { verdict, released, repeated, groups } = request;
  // A store without room for a hold does not say what would have fitted.
  if (verdict === Verdict.FULL) return verdict;
  return {
    verdict,
    released,
    repeated,
    groups: groups.map((group) => ({
      outcome: group.outcome,
      accepted: group.accepted,
      released: group.released,
      ...(withEnded && { expired: group.expired }),
      limits: group.limits.map(({ accepted, used, remaining, reset, held }) => ({
        accepted,
        used,
        remaining,
        reset,
        held,
      })),
    })),
  };
}

const shapes: readonly (readonly (readonly [AlgorithmName, number])[])[] = [
  [["fixed_window", 60]],
  [["fixed_window", 1]],
  [["accepted_window", 60]],
  [["sliding_window", 60]],
  [["token_bucket", 1]],
  [["token_bucket", 60]],
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

export function reservationConformance(name: string, options: ReservationConformanceOptions): void {
  const { makeStore, makePeer, endsAreReported = true, keepsOrder = false } = options;

  async function open(t: TestContext): Promise<ReservationStore> {
    const store = await makeStore(t);
    t.after(() => store.close());
    return store;
  }

  const stemOf = (t: TestContext) => `conformance|${t.name.replaceAll(/\W+/g, "_")}=${randomUUID()}|`;

  async function settle(store: ReservationStore, fields: SettleFields, now: number) {
    const request = makeSettle(fields, now);
    await store.settle(request);
    return request;
  }

  describe(`${name}: conformance of settle`, () => {
    test("has the results of the model for random steps under a virtual clock", async (t) => {
      const store = await open(t);
      const peer = await makePeer(t, store);
      t.after(() => peer.close());
      const group = fc.record({
        shape: fc.integer({ min: 0, max: shapes.length - 1 }),
        hits: fc.oneof(
          { weight: 6, arbitrary: fc.integer({ min: 1, max: 4 }) },
          // Refunds, where a step can have them. Reports put a bucket into debt.
          { weight: 2, arbitrary: fc.integer({ min: -12, max: -1 }) },
          { weight: 1, arbitrary: fc.constantFrom(2 ** 33, 2 ** 40, -(2 ** 33)) },
        ),
        refuses: fc.constantFrom(...Object.values(Refuses)),
      });
      const step = fc.record({
        advance: fc.oneof(
          { weight: 6, arbitrary: fc.integer({ min: 0, max: 400 }) },
          { weight: 3, arbitrary: fc.integer({ min: 0, max: 70_000 }) },
          { weight: 1, arbitrary: fc.integer({ min: 0, max: 4_000_000 }) },
        ),
        step: fc.constantFrom(
          Step.CHECK,
          Step.REPORT,
          Step.RESERVE,
          Step.RESERVE,
          Step.COMMIT,
          Step.COMMIT,
          Step.CANCEL,
          Step.LOOK,
        ),
        acquires: fc.boolean(),
        joins: fc.boolean(),
        which: fc.nat(5),
        ttl: fc.constantFrom(100, 1000, 60_000, 3_600_000),
        maxHolds: fc.constantFrom(2, 10_000),
        usesPeer: fc.boolean(),
        groups:
          options.single === true
            ? fc.array(group, { minLength: 1, maxLength: 1 })
            : fc.array(group, { minLength: 1, maxLength: 3 }),
      });
      const isSingle = options.single === true;
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { maxLength: 30 }),
          fc.integer({ min: 0, max: 8 }),
          async (steps, limit) => {
            const model = new ReservationModel();
            const stem = stemOf(t);
            const tokens = Array.from({ length: 6 }, () => ({
              token: newToken(),
              home: 0,
              groups: [] as typeof group extends fc.Arbitrary<infer G> ? readonly G[] : never,
            }));
            let now = Date.now();
            let asked = store;
            const open: Promise<void>[] = [];
            const fieldsOf = (groups: (typeof tokens)[0]["groups"], refunds: boolean) =>
              groups.map(({ shape, hits, refuses }) => ({
                hits: refunds ? hits : Math.abs(hits),
                refuses,
                limits: shapes[shape]!.map(([algorithm, windowSize], index) => ({
                  stem: `{${stem}${shape}}${algorithm}:${windowSize}:`,
                  algorithm,
                  windowSize,
                  limit: limit * (index + 1),
                  burst: 1 + limit,
                })),
              }));
            for (const { advance, joins, step, acquires, which, ttl, maxHolds, usesPeer, groups } of steps) {
              if (!keepsOrder || !joins) {
                await Promise.all(open.splice(0));
                now += advance;
                asked = usesPeer ? peer : store;
              }
              if (acquires) {
                const fields = fieldsOf(groups, true);
                const [expected, found] = [0, 1].map(() => {
                  const request = makeAcquire(fields, now, isSingle ? HoldBack.NEVER : HoldBack.WHEN_REFUSED);
                  for (const { limits } of request.groups)
                    for (const limit of limits) Object.assign(limit, { reservations: true });
                  return request;
                });
                model.acquire(expected!);
                const compare = () => assert.deepEqual(resultsOf(found!), resultsOf(expected!), "acquire");
                const asking = Promise.resolve(asked.acquire!(found!)).then(compare);
                open.push(asking);
                if (!keepsOrder) await asking;
              }
              const known = tokens[which]!;
              if (step === Step.RESERVE) tokens[which] = { token: newToken(), home: now, groups };
              const isEnd = step === Step.COMMIT || step === Step.CANCEL;
              const { token, home } = step === Step.RESERVE ? tokens[which]! : known;
              const fields = {
                step,
                groups: fieldsOf(
                  isEnd && known.groups.length > 0 ? known.groups : groups,
                  step === Step.REPORT,
                ),
                ...(step !== Step.CHECK && step !== Step.LOOK && step !== Step.REPORT && { token }),
                ttl,
                maxHolds,
                home: home === 0 ? now : home,
              };
              const expected = makeSettle(fields, now);
              model.settle(expected);
              const compare = (found: ReservationRequest) =>
                assert.deepEqual(
                  settleResultsOf(found, endsAreReported),
                  settleResultsOf(expected, endsAreReported),
                  `step ${step}`,
                );
              open.push(settle(asked, fields, now).then(compare));
            }
            await Promise.all(open);
          },
        ),
        { numRuns: options.runs ?? 60 },
      );
    });

    for (const algorithm of Object.keys(algorithms) as AlgorithmName[]) {
      const limits = (t: TestContext, limit: number) => [
        { stem: `{${stemOf(t)}}${algorithm}:`, algorithm, limit, windowSize: 86_400 },
      ];

      test(`${algorithm}: concurrent reservations hold exactly up to the limit, from two stores`, async (t) => {
        const store = await open(t);
        const peer = await makePeer(t, store);
        t.after(() => peer.close());
        const own = limits(t, 40);
        const now = Date.now();
        const reserved = await Promise.all(
          Array.from({ length: 30 }, (_, index) =>
            settle(
              index % 2 ? peer : store,
              { step: Step.RESERVE, limits: own, hits: 3, token: newToken() },
              now,
            ),
          ),
        );
        assert.equal(reserved.filter(({ verdict }) => verdict === Verdict.OK).length, 13);
        assert.equal(
          (await settle(store, { step: Step.CHECK, limits: own }, now)).groups[0]!.limits[0]!.held,
          39,
        );
      });

      test(`${algorithm}: a commit releases its hold and counts once`, async (t) => {
        const store = await open(t);
        const own = limits(t, 40);
        const now = Date.now();
        const token = newToken();
        await settle(store, { step: Step.RESERVE, limits: own, hits: 30, token }, now);
        const first = await settle(store, { step: Step.COMMIT, limits: own, hits: 50, token }, now + 5);
        assert.deepEqual([first.released, first.repeated, first.groups[0]!.released], [true, false, 30]);
        const [used] = first.groups[0]!.limits.map((limit) => limit.used);
        assert.equal(first.groups[0]!.accepted, algorithm === "token_bucket");
        assert.equal(used, algorithm === "token_bucket" ? 40 : 50);
        const second = await settle(store, { step: Step.COMMIT, limits: own, hits: 50, token }, now + 10);
        assert.deepEqual([second.released, second.repeated, second.groups[0]!.released], [false, true, 0]);
        assert.equal(second.groups[0]!.limits[0]!.used, used);
      });

      test(`${algorithm}: a hold ends with its time to live, and its commit still counts`, async (t) => {
        const store = await open(t);
        const own = limits(t, 40);
        const now = Math.floor(Date.now() / 86_400_000) * 86_400_000 + 1000;
        const token = newToken();
        await settle(store, { step: Step.RESERVE, limits: own, hits: 30, token, ttl: 1000 }, now);
        const at = async (later: number) => {
          const { groups } = await settle(store, { step: Step.CHECK, limits: own, hits: 1 }, now + later);
          return [groups[0]!.limits[0]!.held, endsAreReported ? groups[0]!.expired : 0];
        };
        assert.deepEqual(await at(999), [30, 0]);
        assert.deepEqual(await at(1000), [0, endsAreReported ? 30 : 0]);
        assert.deepEqual(await at(1001), [0, 0]);
        const late = await settle(
          store,
          { step: Step.COMMIT, limits: own, hits: 7, token, home: now },
          now + 1002,
        );
        assert.deepEqual([late.released, late.repeated, late.groups[0]!.released], [false, false, 0]);
        assert.equal(late.groups[0]!.limits[0]!.used, 7);
      });
    }

    test("an operator's look leaves the report of ended holds to the next step", async (t) => {
      const store = await open(t);
      const fields = { step: Step.CHECK, limits: [{ stem: `{${stemOf(t)}}hour:`, limit: 100 }] };
      const now = Math.floor(Date.now() / 3_600_000) * 3_600_000;
      await settle(store, { ...fields, step: Step.RESERVE, hits: 30, token: newToken(), ttl: 1000 }, now);
      const look = async (at: number) => {
        const [state] = makeSettle(fields, at).groups[0]!.limits as CounterOf["state"][];
        await readCountersWithHolds(store, [{ state } as CounterOf], at);
        return state!.held;
      };
      assert.deepEqual([await look(now), await look(now + 1000), await look(now + 1001)], [30, 0, 0]);
      const expired = async (at: number) => (await settle(store, fields, at)).groups[0]!.expired;
      assert.deepEqual(
        [await expired(now + 1002), await expired(now + 1003)],
        endsAreReported ? [30, 0] : [0, 0],
      );
    });

    test("a refund to a bucket in debt pays as much of the debt as was refunded", async (t) => {
      const store = await open(t);
      const limits = [
        { stem: `{${stemOf(t)}}bucket:`, algorithm: "token_bucket" as const, limit: 10, windowSize: 86_400 },
      ];
      const now = Date.now();
      const left = async (hits: number) =>
        (await settle(store, { step: Step.REPORT, limits, hits }, now)).groups[0]!.limits[0]!.remaining;
      const leftAfter = async (hits: number) => {
        const request = makeAcquire([{ limits, hits }], now);
        await store.acquire!(request);
        return request.groups[0]!.limits[0]!.remaining;
      };
      assert.equal(await left(70), 0);
      assert.equal(await left(-20), 0);
      assert.equal(await leftAfter(-20), 0);
      assert.equal(await leftAfter(-25), 5);
      assert.equal(await left(-20), 10);
    });

    test("a counter has a bounded number of holds", async (t) => {
      const store = await open(t);
      const limits = [{ stem: `{${stemOf(t)}}hour:`, limit: 100 }];
      const now = Date.now();
      const reserve = () =>
        settle(store, { step: Step.RESERVE, limits, token: newToken(), maxHolds: 2 }, now);
      assert.deepEqual(
        [(await reserve()).verdict, (await reserve()).verdict, (await reserve()).verdict],
        [Verdict.OK, Verdict.OK, Verdict.FULL],
      );
      assert.equal((await settle(store, { step: Step.CHECK, limits }, now)).groups[0]!.limits[0]!.held, 2);
    });

    test("a hold ends with its window, and a commit in the next window counts there", async (t) => {
      const store = await open(t);
      const limits = [{ stem: `${stemOf(t)}minute:`, limit: 10, windowSize: 60 }];
      const start = Math.floor(Date.now() / 60_000) * 60_000;
      const token = newToken();
      await settle(store, { step: Step.RESERVE, limits, hits: 8, token }, start + 59_000);
      const full = await settle(
        store,
        { step: Step.RESERVE, limits, hits: 10, token: newToken() },
        start + 60_000,
      );
      assert.equal(full.verdict, Verdict.OK);
      const commit = { step: Step.COMMIT, limits, hits: 6, token, home: start + 59_000 };
      const committed = await settle(store, commit, start + 61_000);
      assert.equal(committed.released, true);
      assert.equal(committed.groups[0]!.released, 0);
      const { held, used } = committed.groups[0]!.limits[0]!;
      assert.deepEqual([held, used], [10, 16]);
      assert.equal((await settle(store, commit, start + 62_000)).repeated, true);
    });
  });
}
