/** What a counter store does, in the plainest words: a Map of numbers. */
import { type CountRequest, MAX_COUNT, Outcome } from "../../src/counters/store.ts";

export class ModelStore {
  readonly counters = new Map<string, number>();

  /** The outcome and the value after each count. */
  count({ counts, allOrNothing }: CountRequest): [Outcome, number][] {
    const before = new Map(this.counters);
    let exceeded = false;
    const results = counts.map(({ stem, windowStart, hits, limit }): [Outcome, number] => {
      const key = stem + windowStart;
      const current = this.counters.get(key) ?? 0;
      if (allOrNothing && hits >= 0 && current + hits > limit) {
        exceeded = true;
        return [Outcome.EXCEEDS, before.get(key) ?? 0];
      }
      const after = Math.min(Math.max(current + hits, 0), MAX_COUNT);
      this.counters.set(key, after);
      return [Outcome.COUNTED, after];
    });
    if (!exceeded) return results;
    this.counters.clear();
    for (const [key, value] of before) this.counters.set(key, value);
    return results.map(([outcome], index) => {
      const { stem, windowStart } = counts[index]!;
      return [
        outcome === Outcome.EXCEEDS ? Outcome.EXCEEDS : Outcome.HELD,
        before.get(stem + windowStart) ?? 0,
      ];
    });
  }
}
