import { Reservoir } from "../../reservoir.ts";
import { bucketOf } from "../../timer.ts";
import type { HistogramShape, SummaryShape } from "./mapping.ts";

/** Counts durations in buckets. */
export class Histogram {
  readonly bounds: readonly number[];
  readonly buckets: Float64Array;
  sum = 0;
  count = 0;

  constructor(shape: HistogramShape) {
    this.bounds = shape.bounds;
    this.buckets = new Float64Array(shape.bounds.length + 1);
  }

  observe(value: number, times = 1): void {
    this.buckets[bucketOf(value, this.bounds)]! += times;
    this.sum += value * times;
    this.count += times;
  }
}

/**
 * Quantiles of recent durations. `maxAge` is divided into parts, each with a fair sample of bounded size, and the oldest
 * part is dropped as time passes. The error depends on the sample's size, not on the mapping file's `error`.
 */
export class Summary {
  readonly quantiles: readonly number[];
  sum = 0;
  count = 0;
  readonly #capacity: number;
  readonly #partLength: number;
  readonly #parts: Reservoir[];
  readonly #now: () => number;
  #partStart: number;

  constructor(shape: SummaryShape, now: () => number = () => performance.now()) {
    this.quantiles = shape.quantiles;
    this.#capacity = shape.capacity;
    this.#partLength = shape.maxAge / shape.ageBuckets;
    this.#parts = Array.from({ length: shape.ageBuckets }, () => new Reservoir(shape.capacity));
    this.#now = now;
    this.#partStart = now();
  }

  observe(value: number, times = 1): void {
    this.#rotate();
    this.#parts[0]!.add(value, times);
    this.sum += value * times;
    this.count += times;
  }

  /** Values in the order of `quantiles`; NaN without recent durations. */
  read(): readonly number[] {
    this.#rotate();
    const weighted = this.#parts.flatMap((part) => {
      const samples = part.peek();
      return samples.map((value) => ({ value, weight: part.seen / samples.length }));
    });
    weighted.sort((a, b) => a.value - b.value);
    const total = weighted.reduce((sum, { weight }) => sum + weight, 0);
    return this.quantiles.map((quantile) => {
      let below = 0;
      for (const { value, weight } of weighted) {
        below += weight;
        if (below >= quantile * total - 1e-9) return value;
      }
      return Number.NaN;
    });
  }

  #rotate(): void {
    const passed = Math.floor((this.#now() - this.#partStart) / this.#partLength);
    if (passed <= 0) return;
    this.#partStart += passed * this.#partLength;
    for (let i = 0; i < Math.min(passed, this.#parts.length); i++) {
      this.#parts.pop();
      this.#parts.unshift(new Reservoir(this.#capacity));
    }
  }
}
