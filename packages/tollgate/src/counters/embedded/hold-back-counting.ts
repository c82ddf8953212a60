/**
 * Requests whose counts hold each other back, in the embedded store (`hold-back.ts` has the rule). The thread holds the
 * locks of all shards of the request, in order, from the first look to the last change, so that no other thread sees or
 * makes a state in between. (A thread that is terminated between two of the changes leaves the rest of that one call,
 * which nobody will answer, uncounted.) Four counters take 0.25 µs with their hints, 0.4 without.
 */
import { type Count, type CountRequest, HoldBack, Outcome, Refuses } from "../store.ts";
import type { CounterTable } from "./counter-table.ts";
import { COUNT_WORD } from "./entry.ts";
import type { Hint, HintCache } from "./hints.ts";
import type { KeyScratch } from "./key.ts";
import { plus, type Shard } from "./shard.ts";

/** One count of the request under way. A later count of the same counter uses the position of the first one. */
interface Part {
  /** Made only where the hint is none or no longer good. */
  readonly key: KeyScratch;
  hint: Hint | undefined;
  /** Index of the first count of the same counter. */
  first: number;
  shard: number;
  entry: number;
  before: number;
  position: number;
  /** On the first count of a counter: whether one of its counts exceeds its limit. */
  exceeds: boolean;
}

/** Parts kept between calls, for each has half a kilobyte of scratch; what a longer request needs is made anew. */
const KEPT = 16;

export class HoldBackCounting {
  readonly #table: CounterTable;
  readonly #hints: HintCache;
  readonly #kept: Part[];

  constructor(table: CounterTable, hints: HintCache) {
    this.#table = table;
    this.#hints = hints;
    this.#kept = Array.from({ length: KEPT }, () => this.#newPart());
  }

  /**
   * Counts in order, each at the position that the earlier counts of its counter leave. Where the request is refused,
   * only the counters that exceed their limit grow.
   * @throws {StoreError} STORE_UNAVAILABLE, before anything changed
   */
  count(request: CountRequest): void {
    const parts = this.#prepare(request);
    let mask = 0;
    for (const part of parts) mask |= 1 << part.shard;
    this.#lock(mask);
    if (this.#isHeld(request, parts)) hold(request, parts);
    this.#write(request, parts);
    this.#unlock(mask);
  }

  #newPart(): Part {
    const key = this.#table.newKey();
    return { key, hint: undefined, first: 0, shard: 0, entry: 0, before: 0, position: 0, exceeds: false };
  }

  #prepare(request: CountRequest): Part[] {
    const { counts } = request;
    const parts = this.#kept.slice(0, counts.length);
    while (parts.length < counts.length) parts.push(this.#newPart());
    for (let index = 0; index < counts.length; index++) {
      const part = parts[index]!;
      const { stem, windowStart } = counts[index]!;
      const hint = this.#hints.get(stem);
      part.hint = hint?.windowStart === windowStart ? hint : undefined;
      if (part.hint === undefined) part.key.encode(stem);
      part.shard = part.hint?.shard.index ?? this.#table.shardIndexOf(part.key.hash);
    }
    if (counts.length <= KEPT) linkFew(counts, parts);
    else linkMany(counts, parts);
    return parts;
  }

  /** In the order of the shards, in which every thread takes them: no two can wait for each other. */
  #lock(mask: number): void {
    let held = 0;
    try {
      for (let index = 0; mask >>> index !== 0; index++) {
        if ((mask & (1 << index)) === 0) continue;
        this.#table.shards[index]!.acquire();
        held |= 1 << index;
      }
    } catch (error) {
      this.#unlock(held);
      throw error;
    }
  }

  #unlock(mask: number): void {
    for (let index = 0; mask >>> index !== 0; index++)
      if ((mask & (1 << index)) !== 0) this.#table.shards[index]!.release();
  }

  /** Fills in the results as if all are counted. @returns whether the counts that do not exceed are held back */
  #isHeld(request: CountRequest, parts: readonly Part[]): boolean {
    const { counts, holdBack } = request;
    let isHeld = holdBack === HoldBack.ALWAYS;
    let together = 0;
    let exceeding = 0;
    for (let index = 0; index < counts.length; index++) {
      const count = counts[index]!;
      const part = parts[index]!;
      const own = parts[part.first]!;
      if (own === part) {
        const shard = this.#table.shards[part.shard]!;
        part.entry = this.#find(part, count, shard);
        part.before = part.entry === 0 ? 0 : shard.words[part.entry + COUNT_WORD]!;
        part.position = part.before;
        part.exceeds = false;
      }
      own.position = plus(own.position, count.hits);
      count.outcome = Outcome.COUNTED;
      count.after = own.position;
      const exceeds = count.hits >= 0 && own.position > count.limit;
      if (exceeds) own.exceeds = true;
      if (count.refuses === Refuses.TOGETHER) {
        together += 1;
        if (exceeds) exceeding += 1;
      } else if (exceeds && count.refuses === Refuses.ALWAYS) isHeld = true;
    }
    return isHeld || (together > 0 && together === exceeding);
  }

  #find(part: Part, { stem, windowStart }: Count, shard: Shard): number {
    const { hint, key } = part;
    if (hint !== undefined) {
      if (shard.words[hint.generationAt] === hint.generation) return hint.entry;
      key.encode(stem);
    }
    const entry = shard.find(key, windowStart);
    if (entry !== 0 && this.#hints.admits(key.hash, stem)) {
      const generationAt = shard.generationAt(entry);
      const generation = shard.words[generationAt]!;
      this.#hints.add(stem, { shard, windowStart, entry, generationAt, generation });
    }
    return entry;
  }

  #write(request: CountRequest, parts: readonly Part[]): void {
    const { counts, now } = request;
    // Entries that exist come first: an insertion may move or drop one that was found.
    for (let index = 0; index < counts.length; index++) {
      const part = parts[index]!;
      if (part.first !== index || part.entry === 0 || part.position === part.before) continue;
      const shard = this.#table.shards[part.shard]!;
      shard.words[part.entry + COUNT_WORD] = part.position;
      shard.mark(part.entry, part.position >= counts[index]!.limit);
    }
    for (let index = 0; index < counts.length; index++) {
      const part = parts[index]!;
      if (part.first !== index || part.entry !== 0 || part.position === 0) continue;
      const { windowStart, windowSize, limit } = counts[index]!;
      const { key, position } = part;
      const shard = this.#table.shards[part.shard]!;
      shard.insert(key, windowStart, windowSize, position, position >= limit, now);
    }
  }
}

/** Finds the first count of each counter. */
function linkFew(counts: readonly Count[], parts: readonly Part[]): void {
  for (let index = 0; index < counts.length; index++) {
    const { stem, windowStart } = counts[index]!;
    let first = 0;
    for (; first < index; first++) {
      const other = counts[first]!;
      if (other.windowStart === windowStart && other.stem === stem) break;
    }
    parts[index]!.first = first;
  }
}

/** The same in linear time, so that a request of 100,000 descriptors stalls nothing. */
function linkMany(counts: readonly Count[], parts: readonly Part[]): void {
  const firsts = new Map<string, number>();
  for (let index = 0; index < counts.length; index++) {
    const key = `${counts[index]!.windowStart} ${counts[index]!.stem}`;
    const first = firsts.get(key) ?? index;
    if (first === index) firsts.set(key, index);
    parts[index]!.first = first;
  }
}

function hold(request: CountRequest, parts: readonly Part[]): void {
  const { counts } = request;
  for (let index = 0; index < counts.length; index++) {
    const part = parts[index]!;
    const own = parts[part.first]!;
    if (own.exceeds) continue;
    const count = counts[index]!;
    if (own === part) own.position = own.before;
    if (count.hits < 0) own.position = plus(own.position, count.hits);
    else count.outcome = Outcome.HELD;
    count.after = own.position;
  }
}
