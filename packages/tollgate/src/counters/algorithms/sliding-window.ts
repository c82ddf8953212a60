/**
 * A sliding window, estimated from two fixed windows that are aligned to the epoch. With the count p of the window
 * before, the count c of the current one and its elapsed fraction f, the estimate is e = p x (1 - f) + c, rounded up.
 * Hits h are accepted if e + h <= L, and only accepted hits are counted. In the worst case 2L hits pass within T.
 *
 * State: `previous` is p, `level` is c, both of the windows at the instant `at`.
 */
import {
  type Algorithm,
  type LimitReport,
  type LimitState,
  MICROSECONDS,
  type Quota,
  resetSeconds,
} from "./algorithm.ts";
import { mulDivCeil, mulDivFloor } from "./exact.ts";

/** e, rounded up. */
function estimate({ at, level, previous }: LimitState, size: number): number {
  return previous === 0 ? level : mulDivCeil(previous, size - (at % size), size) + level;
}

/** Microseconds until hits pass that an estimate refuses now, and that pass an unused limit. */
function wait({ at, level, previous }: LimitState, limit: number, hits: number, size: number): number {
  const left = size - (at % size);
  const room = limit - hits - level;
  // p x (T - elapsed) <= room x T, in this window; c x (T - elapsed) <= (L - h) x T in the next one.
  return room >= 0
    ? left - mulDivFloor(room, size, previous)
    : left + size - mulDivFloor(limit - hits, size, level);
}

export const slidingWindow: Algorithm = {
  name: "sliding_window",
  perWindow: false,
  countsRefused: false,
  words: 3,

  advance(state: LimitState, { windowSize }: Quota, now: number): void {
    if (now <= state.at) return;
    const size = windowSize * MICROSECONDS;
    const passed = Math.floor(now / size) - Math.floor(state.at / size);
    if (passed > 0) {
      state.previous = passed === 1 ? state.level : 0;
      state.level = 0;
    }
    state.at = now;
  },

  accepts(state: LimitState, { limit, windowSize }: Quota, hits: number): boolean {
    return estimate(state, windowSize * MICROSECONDS) + Math.max(hits, 1) <= limit;
  },

  apply(state: LimitState, _quota: Quota, hits: number): void {
    state.level = Math.min(Math.max(state.level + hits, 0), Number.MAX_SAFE_INTEGER);
  },

  report(state: LimitState, quota: Quota, hits: number, accepted: boolean, report: LimitReport): void {
    const { limit, windowSize } = quota;
    const size = windowSize * MICROSECONDS;
    const used = estimate(state, size);
    report.used = used;
    report.remaining = Math.max(limit - used, 0);
    const needed = Math.max(hits, 1);
    if (!accepted && needed <= limit) report.reset = resetSeconds(wait(state, limit, needed, size));
    else report.reset = resetSeconds(untilUnused(state, size));
  },

  isUnused({ level, previous }: LimitState): boolean {
    return level === 0 && previous === 0;
  },

  isUsedUp(state: LimitState, { limit, windowSize }: Quota): boolean {
    return estimate(state, windowSize * MICROSECONDS) >= limit;
  },

  stateLength({ windowSize }: Quota): number {
    return 2 * windowSize;
  },

  end(state: LimitState, { windowSize }: Quota): number {
    return Math.ceil((state.at + untilUnused(state, windowSize * MICROSECONDS)) / MICROSECONDS);
  },
};

function untilUnused({ at, level, previous }: LimitState, size: number): number {
  const left = size - (at % size);
  if (level > 0) return left + size;
  return previous > 0 ? left : 0;
}
