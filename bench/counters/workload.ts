/** Keys and requests like those of a gateway. */
import {
  type Count,
  type CountRequest,
  HoldBack,
  Refuses,
} from "../../packages/tollgate/src/counters/store.ts";

/** The start of every window. The time is fixed, so nothing expires during a bench. */
export const NOW = 1_800_000_000_000;
const WINDOW_START = NOW / 1000;

/** A stem of 44 to 50 characters. */
export function stemOf(index: number): string {
  return `edge|remote_address=10.${index >>> 16}.${(index >>> 8) & 255}.${index & 255}|minute:`;
}

export function countOf(stem: string, windowStart = WINDOW_START): Count {
  return {
    stem,
    windowStart,
    windowSize: 60,
    hits: 1,
    limit: 1e9,
    refuses: Refuses.ALWAYS,
    outcome: 0,
    after: 0,
  };
}

export function requestOf(counts: Count[], holdBack: HoldBack = HoldBack.NEVER): CountRequest {
  return { counts, holdBack, now: NOW, deadline: 0 };
}

/** Nanoseconds for one call, the best of several runs. */
export function nanoseconds(calls: number, run: (calls: number) => void, runs = 3): number {
  let best = Infinity;
  for (let round = 0; round < runs; round++) {
    const start = performance.now();
    run(calls);
    best = Math.min(best, performance.now() - start);
  }
  return (best * 1e6) / calls;
}
