/** The algorithms against their definitions, in exact fractions, and their bounds in any interval. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { Algorithm, LimitReport, LimitState, Quota } from "./algorithm.ts";
import { algorithms } from "./algorithms.ts";

const START = 1_800_000_000_000_000;
const SECOND = 1_000_000;

function newState(): LimitState {
  return { at: 0, level: 0, previous: 0 };
}

/** One decision of one limit, as a store makes it. */
function decide(algorithm: Algorithm, state: LimitState, quota: Quota, hits: number, now: number) {
  const advanced = { ...state };
  algorithm.advance(advanced, quota, now);
  const accepted = hits < 0 || algorithm.accepts(advanced, quota, hits);
  const counts = hits !== 0 && (accepted || algorithm.countsRefused);
  if (counts) algorithm.apply(advanced, quota, hits);
  const report: LimitReport = { used: -1, remaining: -1, reset: -1 };
  algorithm.report(advanced, quota, hits, accepted, report);
  if (counts) Object.assign(state, advanced);
  return { accepted, ...report };
}

function quotaOf(limit: number, windowSize: number, burst = limit, now = START): Quota {
  const seconds = Math.floor(now / SECOND);
  return { limit, burst, windowSize, windowStart: seconds - (seconds % windowSize) };
}

const hits = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 4 }) },
  { weight: 2, arbitrary: fc.integer({ min: -4, max: -1 }) },
  { weight: 1, arbitrary: fc.constantFrom(2 ** 53 - 1, -(2 ** 53 - 1), 1_000_000_000) },
);
const sizes = fc.constantFrom(1, 7, 60, 900, 3600, 86_400, 315_360_000);

/** Steps in microseconds, some of them backwards. */
const stepOf = (size: number) =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constant(0) },
    { weight: 4, arbitrary: fc.integer({ min: 0, max: Math.min(size * 300_000, 2 ** 31 - 1) }) },
    {
      weight: 2,
      arbitrary: fc
        .double({ min: 0, max: 2.5, noNaN: true })
        .map((windows) => Math.floor(windows * size * SECOND)),
    },
    { weight: 1, arbitrary: fc.integer({ min: -5 * SECOND, max: 0 }) },
  );

const plays = (limits: fc.Arbitrary<number>) =>
  fc.tuple(sizes, limits, fc.integer({ min: 1, max: 12 })).chain(([size, limit, burst]) =>
    fc.record({
      size: fc.constant(size),
      limit: fc.constant(limit),
      burst: fc.constant(burst),
      steps: fc.array(fc.record({ advance: stepOf(size), hits }), { maxLength: 40 }),
    }),
  );

const smallOrHuge = fc.oneof(fc.integer({ min: 0, max: 12 }), fc.constantFrom(2 ** 53 - 1, 2 ** 40));

describe("sliding window", () => {
  const { sliding_window: algorithm } = algorithms;

  test("accepts hits if p (1 - f) + c + h <= L, for any steps of the clock", () => {
    fc.assert(
      fc.property(plays(smallOrHuge), ({ size, limit, steps }) => {
        const quota = { ...quotaOf(limit, size), windowStart: 0 };
        const state = newState();
        const T = BigInt(size * SECOND);
        const counts = new Map<bigint, bigint>();
        let clock = START;
        let last = 0;
        for (const { advance, hits } of steps) {
          clock += advance;
          const now = Math.max(clock, last);
          const window = BigInt(now) / T;
          const c = counts.get(window) ?? 0n;
          const p = counts.get(window - 1n) ?? 0n;
          // The estimate times T.
          const e = p * (T - (BigInt(now) % T)) + c * T;
          const asked = BigInt(hits === 0 ? 1 : hits);
          const accepted = hits < 0 || e + asked * T <= BigInt(limit) * T;
          const result = decide(algorithm, state, quota, hits, clock);
          assert.equal(result.accepted, accepted);
          if (accepted && hits !== 0) {
            const after = c + BigInt(hits);
            counts.set(window, after < 0n ? 0n : after);
            last = now;
          }
          const used = p * (T - (BigInt(now) % T)) + (counts.get(window) ?? 0n) * T;
          const left = BigInt(limit) * T - used;
          assert.equal(BigInt(result.remaining), left < 0n ? 0n : left / T);
          assert.equal(BigInt(result.used), (used + T - 1n) / T);
        }
      }),
      { numRuns: 600 },
    );
  });

  test("accepts at most 2L within any T", () => {
    fc.assert(
      fc.property(plays(fc.integer({ min: 1, max: 12 })), ({ size, limit, steps }) => {
        const quota = { ...quotaOf(limit, size), windowStart: 0 };
        const state = newState();
        const accepted: [number, number][] = [];
        let clock = START;
        for (const { advance, hits } of steps) {
          clock += Math.max(advance, 0);
          if (hits > 0 && decide(algorithm, state, quota, hits, clock).accepted) accepted.push([clock, hits]);
        }
        for (const [from] of accepted) {
          const within = accepted.filter(([at]) => at >= from && at < from + size * SECOND);
          assert.ok(within.reduce((sum, [, hits]) => sum + hits, 0) <= 2 * limit);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe("token bucket", () => {
  const { token_bucket: algorithm } = algorithms;
  const rates = fc.oneof(fc.integer({ min: 0, max: 12 }), fc.constantFrom(1_000_000_000, 999_999_937));

  test("accepts the tokens of the exact bucket, up to a millionth of a token for each change", () => {
    fc.assert(
      fc.property(plays(rates), ({ size, limit, burst, steps }) => {
        const quota = { ...quotaOf(limit, size, burst), windowStart: 0 };
        const state = newState();
        // Tokens times T in microseconds.
        const T = BigInt(size * SECOND);
        const full = limit === 0 ? 0n : BigInt(burst) * T;
        let tokens = full;
        let last = 0;
        let changes = 0n;
        let clock = START;
        for (const { advance, hits } of steps) {
          clock += advance;
          const now = Math.max(clock, last);
          const refilled = last === 0 ? full : tokens + BigInt(now - last) * BigInt(limit);
          const exact = refilled > full ? full : refilled;
          const result = decide(algorithm, state, quota, hits, clock);
          const asked = BigInt(Math.max(hits, 1)) * T;
          const slack = ((changes + 1n) * T) / 1_000_000n + 1n;
          if (hits >= 0 && exact < asked) assert.ok(!result.accepted, "too few tokens");
          if (hits >= 0 && exact >= asked + slack) assert.ok(result.accepted, "enough tokens");
          if (result.accepted && hits !== 0) {
            const after = exact - BigInt(hits) * T;
            tokens = after > full ? full : after;
            last = now;
            changes += 1n;
          }
          assert.ok(result.used + result.remaining === Number(full / T));
        }
      }),
      { numRuns: 600 },
    );
  });

  test("accepts at most burst + L x / T in any interval of length x", () => {
    fc.assert(
      fc.property(plays(fc.integer({ min: 1, max: 12 })), ({ size, limit, burst, steps }) => {
        const quota = { ...quotaOf(limit, size, burst), windowStart: 0 };
        const state = newState();
        const accepted: { at: number; hits: number }[] = [];
        let clock = START;
        for (const { advance, hits } of steps) {
          clock += Math.max(advance, 0);
          if (hits > 0 && decide(algorithm, state, quota, hits, clock).accepted)
            accepted.push({ at: clock, hits });
        }
        accepted.forEach((first, from) => {
          let sum = 0n;
          for (const { at, hits } of accepted.slice(from)) {
            sum += BigInt(hits);
            const x = BigInt(at - first.at);
            const T = BigInt(size * SECOND);
            assert.ok(sum * T <= BigInt(burst) * T + BigInt(limit) * x);
          }
        });
      }),
      { numRuns: 300 },
    );
  });

  test("grants tokens once: at most burst + L x / T + granted are accepted in any interval of length x", () => {
    const grants = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(
        plays(fc.integer({ min: 1, max: 12 })),
        grants,
        ({ size, limit, burst, steps }, granted) => {
          const quota = { ...quotaOf(limit, size, burst), windowStart: 0 };
          const state = newState();
          const T = BigInt(size * SECOND);
          const events: { at: number; hits: number; granted: number }[] = [];
          let clock = START;
          for (const [index, { advance, hits }] of steps.entries()) {
            clock += Math.max(advance, 0);
            const more = granted[index % granted.length]!;
            if (more > 4) {
              algorithm.advance(state, quota, clock);
              const { level, previous } = state;
              const had = Math.max(Math.floor(level / SECOND) + previous, 0);
              algorithm.grant!(state, more);
              const report = { used: 0, remaining: 0, reset: 0 };
              algorithm.report(state, quota, 0, true, report);
              assert.equal(report.remaining, had + more, "the tokens are there at once");
              assert.ok(!algorithm.isUnused(state, quota) && !algorithm.isUsedUp(state, quota));
              assert.ok(algorithm.end(state, quota) * SECOND >= clock + size * SECOND);
            }
            const taken = hits > 0 && decide(algorithm, state, quota, hits, clock).accepted ? hits : 0;
            events.push({ at: clock, hits: taken, granted: more > 4 ? more : 0 });
          }
          // Granted before the interval, and not taken yet: they count, too.
          const before = events.map((_, from) =>
            events.slice(0, from).reduce((sum, one) => sum + one.granted, 0),
          );
          events.forEach((first, from) => {
            let sum = 0n;
            let more = BigInt(before[from]!);
            for (const { at, hits, granted } of events.slice(from)) {
              sum += BigInt(hits);
              more += BigInt(granted);
              const x = BigInt(at - first.at);
              assert.ok(sum * T <= (BigInt(burst) + more) * T + BigInt(limit) * x);
            }
          });
        },
      ),
      { numRuns: 300 },
    );
  });

  test("granted tokens come after those of the bucket, pay its debt, and end", () => {
    const quota = { ...quotaOf(10, 60, 5), windowStart: 0 };
    const state = newState();
    const left = (now: number) => {
      const looked = { ...state };
      algorithm.advance(looked, quota, now);
      const report = { used: 0, remaining: 0, reset: 0 };
      algorithm.report(looked, quota, 0, true, report);
      return [report.used, report.remaining];
    };
    assert.deepEqual(left(START), [0, 5]);
    algorithm.advance(state, quota, START);
    algorithm.grant!(state, 20);
    assert.deepEqual(left(START), [0, 25]);
    assert.ok(decide(algorithm, state, quota, 8, START).accepted);
    assert.deepEqual(left(START), [5, 17]);
    // 6 s refill a token of the bucket. A refund goes to the bucket, up to its size.
    assert.deepEqual(left(START + 6 * SECOND), [4, 18]);
    algorithm.advance(state, quota, START + 6 * SECOND);
    algorithm.apply(state, quota, -9);
    assert.deepEqual(left(START + 6 * SECOND), [0, 22]);
    // A commit may take more than there is.
    algorithm.apply(state, quota, 30);
    assert.deepEqual(left(START + 6 * SECOND), [5, 0]);
    algorithm.grant!(state, 10);
    assert.deepEqual(left(START + 6 * SECOND), [5, 2]);
    assert.ok(!decide(algorithm, state, quota, 3, START + 6 * SECOND).accepted);
    assert.ok(decide(algorithm, state, quota, 2, START + 6 * SECOND).accepted);
    // Nothing changes for a minute, so the rest of the grant ends.
    assert.deepEqual(left(START + 65 * SECOND + 999_999), [4, 9]);
    assert.deepEqual(left(START + 66 * SECOND), [3, 2]);
    // A limit of 0 refuses also what was granted.
    const refilled = { ...newState(), at: START, previous: 4 };
    const none = { ...quota, limit: 0 };
    algorithm.advance(refilled, none, START + 1);
    assert.equal(algorithm.accepts(refilled, none, 1), false);
  });

  test("a refund to a bucket in debt pays as much of the debt as was refunded", () => {
    const quota = { ...quotaOf(10, 60, 10), windowStart: 0 };
    const rows: readonly (readonly [charged: number, refunded: number, left: number, reset?: number])[] = [
      [100, 10, 0, 486],
      [100, 50, 0, 246],
      [100, 89, 0, 12],
      [100, 95, 5],
      [100, 100, 10],
      [100, 2 ** 53 - 1, 10],
      [2 ** 53 - 1, 10, 0, 54_043_195_415],
    ];
    for (const [charged, refunded, left, reset] of rows) {
      const state = newState();
      algorithm.advance(state, quota, START);
      algorithm.apply(state, quota, charged);
      const result = decide(algorithm, state, quota, -refunded, START);
      assert.equal(result.remaining, left, `${refunded} of ${charged}`);
      const one = decide(algorithm, { ...state }, quota, 1, START);
      assert.equal(one.accepted, left > 0);
      if (reset !== undefined) assert.equal(one.reset, reset, `${refunded} of ${charged}`);
    }
  });

  test("loses at most a millionth of its rate to rounding", () => {
    const quota = { ...quotaOf(7, 3, 1), windowStart: 0 };
    const state = newState();
    let accepted = 0;
    // 7 in 3 s is a token every 428,571.43 µs: ask every 1,000 µs for 300 s.
    for (let at = 0; at < 300 * SECOND; at += 1000)
      if (decide(algorithm, state, quota, 1, START + at).accepted) accepted++;
    assert.ok(accepted >= 698 && accepted <= 701, String(accepted));
  });

  test("keeps its tokens when the limit or the burst changes, cut at the burst", () => {
    const state = newState();
    const at = (limit: number, burst: number, hits: number) =>
      decide(algorithm, state, { ...quotaOf(limit, 60, burst), windowStart: 0 }, hits, START).remaining;
    assert.equal(at(10, 10, 7), 3);
    assert.equal(at(100, 50, 0), 3, "a larger limit brings no tokens");
    assert.equal(at(100, 50, 1), 2);
    assert.equal(at(100, 1, 0), 1, "cut at the burst");
    assert.equal(at(100, 50, 0), 2, "a look changes nothing");
    assert.equal(at(0, 50, 0), 0, "a limit of 0 refuses everything");
  });
});

describe("every algorithm", () => {
  for (const algorithm of Object.values(algorithms)) {
    test(`${algorithm.name}: a look and a refused hit change nothing, and a look asks for one hit`, () => {
      fc.assert(
        fc.property(plays(fc.integer({ min: 0, max: 12 })), ({ size, limit, burst, steps }) => {
          const state = newState();
          let clock = START;
          for (const { advance, hits } of steps) {
            clock += advance;
            const quota = quotaOf(limit, size, burst, clock);
            const before = { ...state };
            const look = decide(algorithm, state, quota, 0, clock);
            assert.deepEqual(state, before);
            const one = decide(algorithm, { ...state }, quota, 1, clock);
            if (!algorithm.countsRefused) assert.equal(look.accepted, one.accepted);
            const result = decide(algorithm, state, quota, hits, clock);
            if (!result.accepted && !algorithm.countsRefused) assert.deepEqual(state, before);
            if (limit === 0 && hits > 0) assert.equal(result.accepted, false);
          }
        }),
        { numRuns: 200 },
      );
    });

    test(`${algorithm.name}: a refund restores hits that were taken, and never more than an unused limit has`, () => {
      const quota = { ...quotaOf(10, 60, 10), ...(!algorithm.perWindow && { windowStart: 0 }) };
      const state = newState();
      assert.equal(decide(algorithm, state, quota, 6, START).used, 6);
      assert.equal(decide(algorithm, state, quota, -2, START).used, 4);
      assert.equal(decide(algorithm, state, quota, -(2 ** 53 - 1), START).used, 0);
      assert.ok(algorithm.isUnused(state, quota));
      assert.equal(decide(algorithm, state, quota, 10, START).remaining, 0);
      assert.ok(algorithm.isUsedUp(state, quota));
    });

    test(`${algorithm.name}: its state has no meaning after its end`, () => {
      fc.assert(
        fc.property(plays(fc.integer({ min: 1, max: 12 })), ({ size, limit, burst, steps }) => {
          const state = newState();
          let clock = START;
          for (const { advance, hits } of steps) {
            clock += Math.max(advance, 0);
            const quota = quotaOf(limit, size, burst, clock);
            if (algorithm.perWindow && state.at !== 0 && quota.windowStart * SECOND > state.at)
              Object.assign(state, newState());
            if (!decide(algorithm, state, quota, hits, clock).accepted || hits === 0) continue;
            const end = algorithm.end(state, quota) * SECOND;
            assert.ok(end >= clock);
            if (algorithm.perWindow) continue;
            const later = { ...state };
            algorithm.advance(later, quota, end);
            assert.ok(algorithm.isUnused(later, quota));
          }
        }),
        { numRuns: 200 },
      );
    });
  }

  test("a reset is never longer than a protobuf duration can be", () => {
    const { token_bucket: algorithm } = algorithms;
    const quota = { ...quotaOf(1, 315_360_000, 1_000_000_000), windowStart: 0 };
    assert.equal(decide(algorithm, newState(), quota, 1_000_000_000, START).reset, 315_576_000_000);
  });

  for (const name of ["sliding_window", "token_bucket"] as const) {
    const algorithm = algorithms[name];
    // A bucket rounds its level down to a part: its reset is too long by at most the time of one part.
    test(`${name}: after its reset the same request passes, and a second before it does not`, () => {
      let refused = 0;
      fc.assert(
        fc.property(plays(fc.integer({ min: 1, max: 12 })), ({ size, limit, burst, steps }) => {
          const quota = { ...quotaOf(limit, size, burst), windowStart: 0 };
          const state = newState();
          let clock = START;
          for (const { advance, hits } of steps) {
            clock += Math.max(advance, 0);
            const { accepted, reset } = decide(algorithm, state, quota, hits, clock);
            assert.ok(reset >= 1 && Number.isSafeInteger(reset));
            const part = name === "token_bucket" ? Math.ceil(size / limit) : 0;
            const later = (asked: number) =>
              decide(algorithm, { ...state }, quota, asked, clock + reset * SECOND);
            const before = (asked: number) =>
              decide(algorithm, { ...state }, quota, asked, clock + (reset - 1) * SECOND - part);
            const cap = name === "token_bucket" ? burst : limit;
            if (accepted || Math.max(hits, 1) > cap) {
              assert.equal(later(0).used, 0, "unused after the reset");
              if (reset > 1 + part / SECOND) assert.ok(before(0).used > 0, "used before");
            } else {
              refused++;
              assert.ok(later(hits).accepted, "passes after the reset");
              if (reset > 1 + part / SECOND) assert.ok(!before(hits).accepted, "is refused before");
            }
          }
        }),
        { numRuns: 400 },
      );
      assert.ok(refused > 100);
    });
  }
});
