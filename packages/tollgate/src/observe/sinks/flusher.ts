import type { Logger } from "../log.ts";
import { Reservoir } from "../reservoir.ts";
import type { StatisticsView } from "../series.ts";
import { Throttle, withCount } from "../throttle.ts";
import { ITEMS_PER_TURN, nextTurn } from "../yielding.ts";
import type { Sink } from "./sink.ts";

/** Maximum lines for each timer and interval. More durations are sampled. */
export const MAX_TIMER_SAMPLES = 1000;

/** Milliseconds that the last flush waits for a connection attempt. */
const CONNECT_AT_END = 2000;

export interface FlusherOptions {
  /** `STATS_FLUSH_INTERVAL`, in milliseconds. */
  readonly interval: number;
  readonly log: Logger;
}

/**
 * Sends the changes of the registry since the last flush to one sink. Each sink has its own flusher, so that an
 * unavailable sink does not delay the others.
 */
export class Flusher {
  readonly #view: StatisticsView;
  readonly #sink: Sink;
  readonly #interval: number;
  readonly #log: Logger;
  readonly #failures = new Throttle();
  readonly #reservoirs: Map<object, Reservoir> = new Map();
  #sent: Float64Array = new Float64Array(1024);
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(view: StatisticsView, sink: Sink, options: FlusherOptions) {
    this.#view = view;
    this.#sink = sink;
    this.#interval = options.interval;
    this.#log = options.log;
    view.onTimer((entry) => {
      const reservoir = new Reservoir(MAX_TIMER_SAMPLES);
      this.#reservoirs.set(entry, reservoir);
      entry.timer.listen((milliseconds, times) => reservoir.add(milliseconds, times));
    });
  }

  /** Whether the sink accepts a flush now. */
  get ready(): boolean {
    return this.#sink.ready;
  }

  /** Waits until the sink accepts a flush, at most `milliseconds`. */
  async whenReady(milliseconds: number): Promise<void> {
    const deadline = performance.now() + milliseconds;
    while (!this.#sink.ready && performance.now() < deadline) {
      await this.#sink.room(deadline - performance.now());
      await nextTurn();
    }
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.flush(), this.#interval).unref();
  }

  /** Flushes once. A call during a flush waits for that flush. Never rejects: failures are logged, at most once a minute. */
  flush(): Promise<void> {
    this.#running ??= this.#flush()
      .catch((error: unknown) => {
        const count = this.#failures.hit();
        if (count !== undefined)
          this.#log.error(
            withCount(`statistics: a flush to ${this.#sink.name} failed: ${String(error)}`, count),
          );
      })
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  /** Flushes the last interval and closes the sink, within `milliseconds` in all. */
  async stop(milliseconds: number): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    const deadline = performance.now() + milliseconds;
    // An unavailable sink must not delay the shutdown, but a sink that is just connecting still gets the last interval.
    if (!this.#sink.ready) await this.#sink.room(Math.min(milliseconds, CONNECT_AT_END));
    await before(deadline, this.flush());
    // The first call may have joined a flush already in progress, which missed the latest counts.
    await before(deadline, this.flush());
    await this.#sink.close(Math.max(deadline - performance.now(), 0));
  }

  async #flush(): Promise<void> {
    if (!this.#sink.ready) return;
    await this.#view.refresh();
    await this.#counters();
    for (const gauge of this.#view.gauges) {
      const value = gauge.read();
      if (Number.isFinite(value)) this.#sink.gauge(gauge, value);
    }
    for (const entry of this.#view.timers) {
      const { samples, seen } = this.#reservoirs.get(entry)!.take();
      if (seen > 0) this.#sink.timer(entry, samples, seen);
    }
    this.#sink.commit();
  }

  async #counters(): Promise<void> {
    const { counters } = this.#view;
    // Counters that are created during the loop belong to the next flush.
    const end = counters.length;
    this.#grow(this.#view.counterCount);
    for (let i = 0; i < end; i++) {
      if (i > 0 && i % ITEMS_PER_TURN === 0) {
        await nextTurn();
        await this.#sink.room(this.#interval);
        if (!this.#sink.ready) return;
      }
      const series = counters[i]!;
      const sent = this.#sent;
      for (let stat = 0; stat < series.stats.length; stat++) {
        const value = series.read(stat);
        const delta = value - sent[series.firstId + stat]!;
        if (delta === 0) continue;
        sent[series.firstId + stat] = value;
        this.#sink.counter(series, stat, delta);
      }
    }
  }

  #grow(count: number): void {
    if (count <= this.#sent.length) return;
    const larger = new Float64Array(Math.max(count, this.#sent.length * 2));
    larger.set(this.#sent);
    this.#sent = larger;
  }
}

async function before(deadline: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(deadline - performance.now(), 0));
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
