/**
 * A bucket of `burst` tokens that is refilled at L tokens per T, and full at first. Hits take their tokens together or
 * not at all. In any interval of length x at most burst + L x / T hits are accepted.
 *
 * State: `level` is the number of millionths of tokens at the instant `at`, the last change. A refill is rounded down
 * to a whole millionth. Only changes are stored, and a change takes at least one token, so rounding costs the caller at
 * most a millionth of the rate. Tokens, and not the time until the bucket is full, carry over when L or the burst changes.
 *
 * `previous` is the number of whole tokens that an operator granted, above the bucket. Hits take them when the bucket is
 * empty, and nothing refills them. They end when the bucket has not changed for T, or for the time in which it fills up if
 * that is longer. Then in any interval of length x at most burst + L x / T + granted hits are accepted.
 */
import { type Algorithm, type LimitReport, type LimitState, type Quota, resetSeconds } from "./algorithm.ts";
import { mulDivCeil, mulDivFloor } from "./exact.ts";

/** Parts of a token. With it a microsecond refills exactly L / T (seconds) parts. */
const PARTS = 1_000_000;

/**
 * The most that a bucket lacks, in parts. Hits that are counted whatever the verdict can put a bucket into debt, at most
 * some 8 billion tokens: beyond this the arithmetic would not be exact.
 */
const LARGEST_GAP = Number.MAX_SAFE_INTEGER;

/** A full bucket, in parts. A limit of 0 refuses everything. */
function capacity({ limit, burst }: Quota): number {
  return limit === 0 ? 0 : burst * PARTS;
}

/** The most tokens above a bucket. */
export const MAX_GRANTED = 1_000_000_000;

/** Microseconds until the bucket has gained these parts. */
function refillTime(parts: number, { limit, windowSize }: Quota): number {
  return limit === 0 || parts <= 0 ? 0 : mulDivCeil(parts, windowSize, limit);
}

/** Microseconds from the last change to the end of granted tokens. */
function grantTime(quota: Quota): number {
  return Math.max(quota.windowSize * PARTS, refillTime(capacity(quota), quota));
}

export const tokenBucket: Algorithm = {
  name: "token_bucket",
  perWindow: false,
  countsRefused: false,
  words: 2,

  advance(state: LimitState, quota: Quota, now: number): void {
    const full = capacity(quota);
    if (state.at === 0) state.level = full;
    else if (now > state.at) {
      if (state.previous > 0 && now - state.at >= grantTime(quota)) state.previous = 0;
      state.level = Math.min(state.level + mulDivFloor(now - state.at, quota.limit, quota.windowSize), full);
    } else {
      state.level = Math.min(state.level, full);
      return;
    }
    state.at = now;
  },

  accepts({ level, previous }: LimitState, { limit }: Quota, hits: number): boolean {
    const granted = limit === 0 ? 0 : previous;
    return Math.max(hits, 1) <= Math.floor(level / PARTS) + granted;
  },

  apply(state: LimitState, quota: Quota, hits: number): void {
    // A refund may have more hits than the product below can hold.
    const full = capacity(quota);
    if (hits < 0 && -hits >= (full - state.level) / PARTS) {
      state.level = full;
      return;
    }
    let left = hits;
    if (state.previous > 0) {
      const granted = Math.min(hits - Math.max(Math.floor(state.level / PARTS), 0), state.previous);
      if (granted > 0) {
        state.previous -= granted;
        left -= granted;
      }
    }
    state.level = Math.max(Math.min(state.level - left * PARTS, full), full - LARGEST_GAP);
  },

  report(state: LimitState, quota: Quota, hits: number, accepted: boolean, report: LimitReport): void {
    const full = capacity(quota);
    const granted = quota.limit === 0 ? 0 : state.previous;
    const tokens = Math.floor(state.level / PARTS);
    report.used = full / PARTS - Math.max(tokens, 0);
    report.remaining = Math.max(tokens + granted, 0);
    const needed = Math.max(hits, 1) - granted;
    const target = !accepted && needed <= full / PARTS ? needed * PARTS : full;
    report.reset = resetSeconds(refillTime(target - state.level, quota));
  },

  grant(state: LimitState, hits: number): void {
    state.previous = Math.min(state.previous + hits, MAX_GRANTED);
  },

  isUnused({ level, previous }: LimitState, quota: Quota): boolean {
    return level >= capacity(quota) && previous === 0;
  },

  isUsedUp({ level, previous }: LimitState): boolean {
    return level < PARTS && previous === 0;
  },

  stateLength(quota: Quota): number {
    return Math.ceil(refillTime(capacity(quota), quota) / PARTS);
  },

  end(state: LimitState, quota: Quota): number {
    const left = refillTime(capacity(quota) - state.level, quota);
    return Math.ceil((state.at + (state.previous > 0 ? Math.max(left, grantTime(quota)) : left)) / PARTS);
  },
};
