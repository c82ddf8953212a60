/** Keys and requests as a gateway would send them. */
import {
  type Count,
  type CountRequest,
  HoldBack,
  Refuses,
} from "../../packages/tollgate/src/counters/store.ts";

/** The start of every window here: minutes of 60 s, so that nothing expires while a bench runs. */
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

/** Nanoseconds a call, the best of some runs. */
export function nanoseconds(calls: number, run: (calls: number) => void, runs = 3): number {
  let best = Infinity;
  for (let round = 0; round < runs; round++) {
    const start = performance.now();
    run(calls);
    best = Math.min(best, performance.now() - start);
  }
  return (best * 1e6) / calls;
}
