import type { Registry } from "../observe/registry.ts";
import { responseTimeBounds } from "../observe/timer.ts";
import type { CallState } from "./messages.ts";
import { SLOT_SECONDS } from "./messages.ts";

const RESPONSE_TIME = "ratelimit_server.ShouldRateLimit.response_time";
const CALLS = "ratelimit_server.ShouldRateLimit.total_requests";
const ERRORS = "ratelimit.service.call.should_rate_limit.";

/** The counters at one moment. */
interface Mark {
  readonly at: number;
  readonly calls: number;
  readonly buckets: Float64Array;
  readonly errors: ReadonlyMap<string, number>;
}

/** Calls and errors per second, and quantiles of the duration, over the last five to ten seconds. */
export class CallWatch {
  readonly #registry: Registry;
  #marks: readonly Mark[] = [];
  #state: CallState = { perSecond: 0, p50Ms: 0, p99Ms: 0, errors: [] };

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  get state(): CallState {
    return this.#state;
  }

  /** @param now monotonic, in milliseconds */
  read(now: number): void {
    const mark = this.#mark(now);
    const [oldest] = this.#marks;
    const newest = this.#marks.at(-1);
    if (newest === undefined || now - newest.at >= SLOT_SECONDS * 1000)
      this.#marks = [...this.#marks, mark].slice(-2);
    if (oldest === undefined) return;
    const seconds = Math.max((now - oldest.at) / 1000, 0.5);
    const buckets = mark.buckets.map((count, index) => count - oldest.buckets[index]!);
    this.#state = {
      perSecond: (mark.calls - oldest.calls) / seconds,
      p50Ms: quantile(buckets, 0.5),
      p99Ms: quantile(buckets, 0.99),
      errors: [...mark.errors]
        .filter(([, total]) => total > 0)
        .map(([kind, total]) => [kind, (total - (oldest.errors.get(kind) ?? 0)) / seconds, total] as const),
    };
  }

  #mark(at: number): Mark {
    const errors = new Map<string, number>();
    let calls = 0;
    for (const series of this.#registry.counters) {
      // Rules come in thousands; their labels tell them apart without a look at their names.
      if (series.labels !== undefined) continue;
      if (series.name === CALLS) calls = series.read(0);
      else if (series.name.startsWith(ERRORS)) errors.set(series.name.slice(ERRORS.length), series.read(0));
    }
    const entry = this.#registry.timers.find(({ name }) => name === RESPONSE_TIME);
    const buckets = entry?.timer.buckets.slice() ?? new Float64Array(responseTimeBounds.length + 1);
    return { at, calls, buckets, errors };
  }
}

/** A quantile in milliseconds; linear within a bucket, and the last bound beyond it. */
function quantile(buckets: Float64Array, q: number): number {
  const rank = q * buckets.reduce((sum, count) => sum + count, 0);
  if (rank === 0) return 0;
  let below = 0;
  for (const [index, inside] of buckets.entries()) {
    if (inside > 0 && below + inside >= rank) {
      const low = index === 0 ? 0 : responseTimeBounds[index - 1]!;
      const high = responseTimeBounds[index] ?? low;
      return (low + (high - low) * ((rank - below) / inside)) * 1000;
    }
    below += inside;
  }
  return 0;
}
