/**
 * Fixed windows: a count for each window. `fixed_window` counts all hits (`count: all`), `accepted_window` counts
 * accepted hits only (`count: accepted`). Windows are aligned to the Unix epoch or to a calendar; the rules compute
 * them. State: `level` is the count.
 */
import {
  type Algorithm,
  type AlgorithmName,
  type LimitReport,
  type LimitState,
  MICROSECONDS,
  type Quota,
} from "./algorithm.ts";

const MAX_COUNT = Number.MAX_SAFE_INTEGER;

class FixedWindow implements Algorithm {
  readonly name: AlgorithmName;
  readonly countsRefused: boolean;
  readonly perWindow = true;
  readonly words = 1;

  constructor(name: AlgorithmName, countsRefused: boolean) {
    this.name = name;
    this.countsRefused = countsRefused;
  }

  advance(state: LimitState, _quota: Quota, now: number): void {
    state.at = now;
  }

  accepts({ level }: LimitState, { limit }: Quota, hits: number): boolean {
    if (this.countsRefused) return level + hits <= limit;
    return level + Math.max(hits, 1) <= limit;
  }

  apply(state: LimitState, _quota: Quota, hits: number): void {
    state.level = Math.min(Math.max(state.level + hits, 0), MAX_COUNT);
  }

  report({ at, level }: LimitState, quota: Quota, _hits: number, _accepted: boolean, report: LimitReport) {
    const { limit, windowStart, windowSize } = quota;
    report.used = level;
    report.remaining = Math.max(limit - level, 0);
    report.reset = Math.max(windowStart + windowSize - Math.floor(at / MICROSECONDS), 1);
  }

  isUnused({ level }: LimitState): boolean {
    return level === 0;
  }

  isUsedUp({ level }: LimitState, { limit }: Quota): boolean {
    return level >= limit;
  }

  stateLength({ windowSize }: Quota): number {
    return windowSize;
  }

  end(_state: LimitState, { windowStart, windowSize }: Quota): number {
    return windowStart + windowSize;
  }
}

export const fixedWindow: Algorithm = new FixedWindow("fixed_window", true);
export const acceptedWindow: Algorithm = new FixedWindow("accepted_window", false);
