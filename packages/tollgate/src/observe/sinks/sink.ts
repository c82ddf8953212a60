import type { CounterSeries, GaugeEntry, TimerEntry } from "../series.ts";

/** A destination of statistics. A flusher reads the registry; the sink encodes and sends. */
export interface Sink {
  /** The name in logs and in the statistics about the sink itself: `push`, `agent`, `output`. */
  readonly name: string;
  /**
   * Whether the sink can send now. While it cannot, the flusher reads nothing from the registry: counters accumulate
   * there and are sent in full when the sink is available again.
   */
  readonly ready: boolean;
  /** @param delta change since the last flush; never 0 */
  counter(series: CounterSeries, stat: number, delta: number): void;
  gauge(entry: GaugeEntry, value: number): void;
  /** @param samples a fair sample of `seen` durations, in milliseconds */
  timer(entry: TimerEntry, samples: readonly number[], seen: number): void;
  /** Ends a flush: sends the buffered lines. */
  commit(): void;
  /** Waits until there is room for more, at most `milliseconds`. Returns at once if the sink is unavailable. */
  room(milliseconds: number): Promise<void>;
  /** Sends the pending lines within `milliseconds` and releases all resources. */
  close(milliseconds: number): Promise<void>;
}

/** Formats a number for the statsd protocols: no exponent, at most six decimals, no trailing zeros. */
export function formatNumber(value: number): string {
  if (Number.isInteger(value)) return Math.abs(value) < 1e21 ? String(value) : BigInt(value).toString();
  const text = value.toFixed(6).replace(/\.?0+$/, "");
  return text === "-0" ? "0" : text;
}
