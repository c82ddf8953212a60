/**
 * A bucket of `burst` tokens that is refilled at L tokens per T, and full at first. Hits take their tokens together or
 * not at all. In any interval of length x at most burst + L x / T hits are accepted.
 *
 * State: `level` is the number of millionths of tokens at the instant `at`, the last change. A refill is rounded down
 * to a whole millionth. Only changes are stored, and a change takes at least one token, so rounding costs the caller at
 * most a millionth of the rate. Tokens, and not the time until the bucket is full, carry over when L or the burst changes.
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

/** Microseconds until the bucket has gained these parts. */
function refillTime(parts: number, { limit, windowSize }: Quota): number {
  return limit === 0 || parts <= 0 ? 0 : mulDivCeil(parts, windowSize, limit);
}

export const tokenBucket: Algorithm = {
  name: "token_bucket",
  perWindow: false,
  countsRefused: false,
  words: 2,

  advance(state: LimitState, quota: Quota, now: number): void {
    const full = capacity(quota);
    if (state.at === 0) state.level = full;
    else if (now > state.at)
      state.level = Math.min(state.level + mulDivFloor(now - state.at, quota.limit, quota.windowSize), full);
    else {
      state.level = Math.min(state.level, full);
      return;
    }
    state.at = now;
  },

  accepts({ level }: LimitState, _quota: Quota, hits: number): boolean {
    return Math.max(hits, 1) <= Math.floor(level / PARTS);
  },

  apply(state: LimitState, quota: Quota, hits: number): void {
    // A refund may have more hits than the product below can hold.
    const full = capacity(quota);
    if (-hits >= quota.burst) state.level = full;
    else state.level = Math.max(Math.min(state.level - hits * PARTS, full), full - LARGEST_GAP);
  },

  report(state: LimitState, quota: Quota, hits: number, accepted: boolean, report: LimitReport): void {
    const full = capacity(quota);
    const tokens = Math.max(Math.floor(state.level / PARTS), 0);
    report.used = full / PARTS - tokens;
    report.remaining = tokens;
    const needed = Math.max(hits, 1);
    const target = !accepted && needed <= full / PARTS ? needed * PARTS : full;
    report.reset = resetSeconds(refillTime(target - state.level, quota));
  },

  isUnused({ level }: LimitState, quota: Quota): boolean {
    return level >= capacity(quota);
  },

  isUsedUp({ level }: LimitState): boolean {
    return level < PARTS;
  },

  stateLength(quota: Quota): number {
    return Math.ceil(refillTime(capacity(quota), quota) / PARTS);
  },

  end(state: LimitState, quota: Quota): number {
    return Math.ceil((state.at + refillTime(capacity(quota) - state.level, quota)) / PARTS);
  },
};
