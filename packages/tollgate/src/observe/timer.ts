import type { Timer } from "./statistics.ts";

/**
 * Upper bounds in seconds: the eleven of the Go service, and smaller ones for a service that answers in tens of
 * microseconds.
 */
export const responseTimeBounds: readonly number[] = [
  0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
  1, 2.5, 5, 10,
];

/** Receives each duration in milliseconds and how often it occurred. */
export type TimerListener = (milliseconds: number, times: number) => void;

/** A timer with totals and buckets of its own. Passes each duration to its listeners. */
export class RecordingTimer implements Timer {
  count = 0;
  /** Milliseconds. */
  sum = 0;
  /** The longest duration since the start, in milliseconds. */
  max = 0;
  /** Counts by {@link responseTimeBounds}, not cumulative. The last bucket has no upper bound. */
  readonly buckets: Float64Array = new Float64Array(responseTimeBounds.length + 1);
  #listeners: readonly TimerListener[] = [];

  record(milliseconds: number, times = 1): void {
    // Negative durations must not lower the sum, and NaN must not spoil it.
    let duration = 0;
    if (milliseconds > 0) duration = milliseconds;
    this.count += times;
    this.sum += duration * times;
    if (duration > this.max) this.max = duration;
    this.buckets[bucketOf(duration / 1000, responseTimeBounds)]! += times;
    for (let i = 0; i < this.#listeners.length; i++) this.#listeners[i]!(duration, times);
  }

  /** Passes every later duration to `listener`. */
  listen(listener: TimerListener): void {
    this.#listeners = [...this.#listeners, listener];
  }

  /** Estimates a quantile in milliseconds by linear interpolation within its bucket; 0 if nothing was recorded. */
  quantile(q: number): number {
    const rank = q * this.count;
    let below = 0;
    for (let i = 0; i < this.buckets.length; i++) {
      const inside = this.buckets[i]!;
      if (inside > 0 && below + inside >= rank) {
        const low = i === 0 ? 0 : responseTimeBounds[i - 1]! * 1000;
        const high = i < responseTimeBounds.length ? responseTimeBounds[i]! * 1000 : this.max;
        return Math.min(low + (high - low) * ((rank - below) / inside), this.max);
      }
      below += inside;
    }
    return 0;
  }
}

/** Returns the index of the first bound that is not below `value`; `bounds.length` if all are below. */
export function bucketOf(value: number, bounds: readonly number[]): number {
  let low = 0;
  let high = bounds.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value <= bounds[middle]!) high = middle;
    else low = middle + 1;
  }
  return low;
}
