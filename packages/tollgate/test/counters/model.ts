/** A simple model of a counter store: a Map of numbers. */
import { type CountRequest, HoldBack, MAX_COUNT, Outcome, Refuses } from "../../src/counters/store.ts";

export class ModelStore {
  readonly counters = new Map<string, number>();

  /** Outcome and counter after each count. */
  count({ counts, holdBack }: CountRequest): [Outcome, number][] {
    const all = new Map(this.counters);
    const counted = counts.map(({ stem, windowStart, hits, limit, refuses }) => {
      const key = stem + windowStart;
      const after = Math.min(Math.max((all.get(key) ?? 0) + hits, 0), MAX_COUNT);
      all.set(key, after);
      return { key, after, refuses, exceeds: hits >= 0 && after > limit };
    });
    const together = counted.filter(({ refuses }) => refuses === Refuses.TOGETHER);
    const refused =
      counted.some(({ refuses, exceeds }) => refuses === Refuses.ALWAYS && exceeds) ||
      (together.length > 0 && together.every(({ exceeds }) => exceeds));
    const held = holdBack === HoldBack.ALWAYS || (holdBack === HoldBack.WHEN_REFUSED && refused);
    const exceeding = new Set(counted.filter(({ exceeds }) => exceeds).map(({ key }) => key));
    return counts.map(({ stem, windowStart, hits }): [Outcome, number] => {
      const key = stem + windowStart;
      const before = this.counters.get(key) ?? 0;
      if (held && !exceeding.has(key) && hits >= 0) return [Outcome.HELD, before];
      const after = Math.min(Math.max(before + hits, 0), MAX_COUNT);
      this.counters.set(key, after);
      return [Outcome.COUNTED, after];
    });
  }
}
