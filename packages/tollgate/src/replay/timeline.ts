/** The changes of one span of time. */
export interface Span {
  decisions: number;
  refusedBefore: number;
  refusedNow: number;
  newlyRefused: number;
  newlyPass: number;
}

export function newSpan(): Span {
  return { decisions: 0, refusedBefore: 0, refusedNow: 0, newlyRefused: 0, newlyPass: 0 };
}

export function addTo(span: Span, weight: number, wasRefused: boolean, isRefused: boolean): void {
  span.decisions += weight;
  if (wasRefused) span.refusedBefore += weight;
  if (isRefused) span.refusedNow += weight;
  if (isRefused && !wasRefused) span.newlyRefused += weight;
  if (wasRefused && !isRefused) span.newlyPass += weight;
}

/** Lengths of a span in seconds. Each divides the next. Longer ones double. */
const LENGTHS = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 21_600, 86_400];

/** Sums over time in a bounded number of spans. They become longer as time goes on. Spans are aligned to the epoch. */
export class Timeline {
  readonly #most: number;
  #spans: Span[] = [];
  /** Milliseconds of one span. */
  #width = LENGTHS[0]! * 1000;
  /** The first span, in widths since the epoch. */
  #first: number | undefined;

  /** @param most the maximum number of spans, 2 or more */
  constructor(most: number) {
    this.#most = most;
  }

  /** Milliseconds since the epoch. */
  get start(): number {
    return (this.#first ?? 0) * this.#width;
  }

  /** Milliseconds. */
  get width(): number {
    return this.#width;
  }

  get spans(): readonly Span[] {
    return this.#spans;
  }

  /** @param time milliseconds since the epoch, not before the one of the call before */
  at(time: number): Span {
    this.#first ??= Math.floor(time / this.#width);
    let index = Math.floor(time / this.#width) - this.#first;
    while (index >= this.#most) {
      this.#first = this.#widen(this.#first);
      index = Math.floor(time / this.#width) - this.#first;
    }
    while (this.#spans.length <= index) this.#spans.push(newSpan());
    return this.#spans[index]!;
  }

  /** Merges spans into longer ones. Returns the first of these. */
  #widen(before: number): number {
    const seconds = this.#width / 1000;
    const longer = LENGTHS.find((length) => length > seconds) ?? seconds * 2;
    const factor = longer / seconds;
    this.#width = longer * 1000;
    const first = Math.floor(before / factor);
    const merged: Span[] = [];
    for (const [index, span] of this.#spans.entries()) {
      const at = Math.floor((before + index) / factor) - first;
      merged[at] ??= newSpan();
      for (const name of Object.keys(span) as (keyof Span)[]) merged[at][name] += span[name];
    }
    this.#spans = merged;
    return first;
  }
}
