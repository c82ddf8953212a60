import { RuleSeries } from "../observe/series.ts";
import { ITEMS_PER_TURN, nextTurn } from "../observe/yielding.ts";
import { type History, type Rates, SLOT_SECONDS, SLOTS } from "./messages.ts";

/** Rules with a history. Beyond it, those with the fewest refusals and hits lose theirs. */
const MAX_ACTIVE = 4096;
/** Most rules with a history between two slots. The next slot removes those beyond `MAX_ACTIVE`. */
const MAX_BETWEEN = 2 * MAX_ACTIVE;
/** The counters at the start of each slot: hits, near, refused, shadowed. */
const FIELDS = 4;
/** One more than is shown: each point is a difference. */
const MARKS = SLOTS + 1;

export const NO_RATES: Rates = { hits: 0, near: 0, refused: 0, shadowed: 0 };

/** The counters of one rule, or of all, at the start of the last slots. */
export class Trace {
  readonly #marks = new Float64Array(MARKS * FIELDS);
  readonly #now = new Float64Array(FIELDS);
  /** The slot of the last change. */
  changed: number;
  #slot: number;

  /** @param slot the current slot; earlier ones get the same values */
  constructor(slot: number, hits: number, near: number, refused: number, shadowed: number) {
    this.#slot = slot;
    this.changed = slot;
    for (let mark = 0; mark < MARKS; mark++) this.#marks.set([hits, near, refused, shadowed], mark * FIELDS);
    this.#now.set([hits, near, refused, shadowed]);
  }

  update(slot: number, hits: number, near: number, refused: number, shadowed: number): void {
    const now = this.#now;
    // A slot begins with the counters at the end of the one before. Slots that nobody measured get the same.
    if (slot - this.#slot > MARKS) this.#slot = slot - MARKS;
    while (this.#slot < slot) this.#marks.set(now, (++this.#slot % MARKS) * FIELDS);
    if (now[0] !== hits || now[2] !== refused || now[3] !== shadowed) this.changed = slot;
    now[0] = hits;
    now[1] = near;
    now[2] = refused;
    now[3] = shadowed;
  }

  /** @param seconds since the start of the slot before the current one */
  rates(seconds: number): Rates {
    const from = ((this.#slot - 1 + MARKS) % MARKS) * FIELDS;
    const rate = (field: number) => Math.max(0, (this.#now[field]! - this.#marks[from + field]!) / seconds);
    return { hits: rate(0), near: rate(1), refused: rate(2), shadowed: rate(3) };
  }

  /** @param seconds since the start of the current slot */
  history(seconds: number): History {
    return { hits: this.#points(0, seconds), refused: this.#points(2, seconds) };
  }

  #points(field: number, seconds: number): number[] {
    const points: number[] = [];
    for (let back = SLOTS - 1; back >= 0; back--) {
      const slot = this.#slot - back;
      const start = this.#marks[((slot + MARKS) % MARKS) * FIELDS + field]!;
      const end =
        back === 0 ? this.#now[field]! : this.#marks[((slot + 1 + MARKS) % MARKS) * FIELDS + field]!;
      const length = back === 0 ? Math.max(seconds, 1) : SLOT_SECONDS;
      points.push(Math.max(0, Math.round(((end - start) / length) * 10) / 10));
    }
    return points;
  }
}

/** Sums over all rules. */
export interface Sums {
  readonly total: Trace;
  readonly unknownDomain: Trace;
}

/**
 * The last minutes of the rules that have hits. A rule without hits costs 32 bytes. Reads all counters in short turns
 * of the event loop.
 */
export class Activity {
  readonly #traces = new Map<RuleSeries, Trace>();
  /** The counters at the last reading, by the index of the series in the registry. */
  #seen = new Float64Array(1024 * FIELDS);
  #slot = 0;
  #sums: Sums | undefined;

  /** Milliseconds on the monotonic clock at the last reading. */
  #at = 0;

  get active(): number {
    return this.#traces.size;
  }

  get sums(): Sums | undefined {
    return this.#sums;
  }

  series(): Iterable<RuleSeries> {
    return this.#traces.keys();
  }

  rates(series: RuleSeries): Rates {
    return this.#traces.get(series)?.rates(this.secondsOfTwoSlots) ?? NO_RATES;
  }

  history(series: RuleSeries): History | undefined {
    return this.#traces.get(series)?.history(this.#secondsOfSlot);
  }

  /** The length of this slot and the one before: the time span of rates. */
  get secondsOfTwoSlots(): number {
    return this.#secondsOfSlot + SLOT_SECONDS;
  }

  get #secondsOfSlot(): number {
    return this.#at / 1000 - this.#slot * SLOT_SECONDS;
  }

  /** @param now monotonic, in milliseconds */
  async read(counters: readonly { readonly name: string }[], now: number): Promise<void> {
    const slot = Math.floor(now / 1000 / SLOT_SECONDS);
    if (slot !== this.#slot) this.#sweep(slot);
    this.#slot = slot;
    this.#at = now;
    const sums = new Float64Array(FIELDS);
    let unknown = 0;
    const { length } = counters;
    if (length * FIELDS > this.#seen.length) this.#grow(length);
    for (let index = 0; index < length; index++) {
      if (index % (8 * ITEMS_PER_TURN) === 0 && index > 0) await nextTurn();
      const series = counters[index]!;
      if (series instanceof RuleSeries) this.#readRule(series, index, slot, sums);
      else if ("labels" in series && series.labels !== undefined)
        unknown += (series as unknown as { value: number }).value;
    }
    const [hits, near, refused, shadowed] = sums as unknown as [number, number, number, number];
    if (this.#sums === undefined)
      this.#sums = {
        total: new Trace(slot, hits, near, refused, shadowed),
        unknownDomain: new Trace(slot, unknown, 0, 0, 0),
      };
    this.#sums.total.update(slot, hits, near, refused, shadowed);
    this.#sums.unknownDomain.update(slot, unknown, 0, 0, 0);
  }

  #readRule(series: RuleSeries, index: number, slot: number, sums: Float64Array): void {
    const { totalHits, overLimit, nearLimit, shadowMode } = series;
    const refused = Math.max(0, overLimit - shadowMode);
    // A limit of a list counts only what it refused. The rule itself has the sums.
    if (overLimit <= totalHits) {
      sums[0]! += totalHits;
      sums[1]! += nearLimit;
      sums[2]! += refused;
      sums[3]! += shadowMode;
    }
    const seen = this.#seen;
    const at = index * FIELDS;
    let trace = this.#traces.get(series);
    const isChanged = seen[at] !== totalHits || seen[at + 2] !== refused || seen[at + 3] !== shadowMode;
    // The first reading only notes what was counted before.
    if (trace === undefined && isChanged && this.#sums !== undefined && this.#traces.size < MAX_BETWEEN) {
      trace = new Trace(slot, seen[at]!, seen[at + 1]!, seen[at + 2]!, seen[at + 3]!);
      this.#traces.set(series, trace);
    }
    trace?.update(slot, totalHits, nearLimit, refused, shadowMode);
    seen[at] = totalHits;
    seen[at + 1] = nearLimit;
    seen[at + 2] = refused;
    seen[at + 3] = shadowMode;
  }

  /** Drops what is over: rules without hits for five minutes, and the least active ones beyond the bound. */
  #sweep(slot: number): void {
    for (const [series, { changed }] of this.#traces) if (slot - changed > SLOTS) this.#traces.delete(series);
    if (this.#traces.size <= MAX_ACTIVE) return;
    const worth = [...this.#traces].map(([series, trace]) => {
      const { hits, refused } = trace.rates(SLOT_SECONDS);
      return { series, refused, hits, changed: trace.changed };
    });
    worth.sort((a, b) => b.refused - a.refused || b.hits - a.hits || b.changed - a.changed);
    for (const { series } of worth.slice(MAX_ACTIVE)) this.#traces.delete(series);
  }

  #grow(length: number): void {
    const larger = new Float64Array(length * 2 * FIELDS);
    larger.set(this.#seen);
    this.#seen = larger;
  }
}
