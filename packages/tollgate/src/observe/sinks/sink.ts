import type { CounterSeries, GaugeEntry, TimerEntry } from "../series.ts";

/** Where statistics are sent to, an interval at a time. The flusher walks, the sink encodes and sends. */
export interface Sink {
  /** For logs and for the statistics about the sink itself: `push`, `agent`, `output`. */
  readonly name: string;
  /**
   * Whether anything can be sent now. While it cannot, nothing is taken from the registry: counters add up there
   * and arrive whole when the sink is back.
   */
  readonly ready: boolean;
  /** @param delta since the last flush that was taken; never 0 */
  counter(series: CounterSeries, stat: number, delta: number): void;
  gauge(entry: GaugeEntry, value: number): void;
  /** @param samples milliseconds; `seen` says of how many they are a fair sample */
  timer(entry: TimerEntry, samples: readonly number[], seen: number): void;
  /** The end of a flush: what is still buffered goes out. */
  commit(): void;
  /** Waits until there is room for more; at once where the sink is known to be away; at most `milliseconds`. */
  room(milliseconds: number): Promise<void>;
  /** Sends what is under way, at most for so long, and lets go. */
  close(milliseconds: number): Promise<void>;
}

/** A setting of a sink that cannot work; found when the sink is made, so it ends the start. */
export class SinkConfigError extends Error {
  override readonly name = "SinkConfigError";
  readonly code = "BAD_SINK_CONFIG";
}

/** Numbers as the statsd protocols carry them: no exponent, at most six decimals, no trailing zeros. */
export function formatNumber(value: number): string {
  if (Number.isInteger(value)) return Math.abs(value) < 1e21 ? String(value) : BigInt(value).toString();
  const text = value.toFixed(6).replace(/\.?0+$/, "");
  return text === "-0" ? "0" : text;
}
