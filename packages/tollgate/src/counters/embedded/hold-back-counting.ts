/**
 * Counts requests whose counts hold each other back, in the embedded store (`count-together.ts` has the rule). The thread
 * locks all shards of the request, in order, from the first look to the last change. So no other thread sees or makes
 * a state in between. (If a thread is terminated between two changes, the rest of that call stays uncounted. The call
 * gets no answer.) Four counters take 0.4 µs.
 */
import { type Count, type CountRequest, HoldBack, Outcome, Refuses } from "../store.ts";
import type { CounterTable } from "./counter-table.ts";
import { COUNT_WORD } from "./entry.ts";
import type { KeyScratch } from "./key.ts";
import { plus } from "./shard.ts";
import { lockShards, unlockShards } from "./shard-locks.ts";

/** One count of the current request. Later counts of a counter use the position of its first count. */
interface Part {
  readonly key: KeyScratch;
  /** Index of the first count of the same counter. */
  first: number;
  shard: number;
  entry: number;
  before: number;
  position: number;
  /** On a counter's first count: whether one of its counts exceeds its limit. */
  exceeds: boolean;
}

/** Parts that are kept between calls, half a kilobyte each. Longer requests allocate the rest. */
const KEPT_PARTS = 16;

export class HoldBackCounting {
  readonly #table: CounterTable;
  readonly #kept: Part[];

  constructor(table: CounterTable) {
    this.#table = table;
    this.#kept = Array.from({ length: KEPT_PARTS }, () => this.#newPart());
  }

  /**
   * Counts in order. Each count follows the earlier counts of the same counter. If the request is refused, only the
   * counters that exceed their limit grow.
   * @throws {StoreError} STORE_UNAVAILABLE, before any change
   */
  count(request: CountRequest): void {
    const parts = this.#prepare(request);
    let mask = 0;
    for (const part of parts) mask |= 1 << part.shard;
    lockShards(this.#table.shards, mask);
    if (this.#isHeld(request, parts)) hold(request, parts);
    this.#write(request, parts);
    unlockShards(this.#table.shards, mask);
  }

  #newPart(): Part {
    const key = this.#table.newKey();
    return { key, first: 0, shard: 0, entry: 0, before: 0, position: 0, exceeds: false };
  }

  #prepare(request: CountRequest): Part[] {
    const { counts } = request;
    const parts = this.#kept.slice(0, counts.length);
    while (parts.length < counts.length) parts.push(this.#newPart());
    for (let index = 0; index < counts.length; index++) {
      const part = parts[index]!;
      part.key.encode(counts[index]!);
      part.shard = this.#table.shardIndexOf(part.key.hash);
    }
    if (counts.length <= KEPT_PARTS) linkFew(counts, parts);
    else linkMany(counts, parts);
    return parts;
  }

  /** Fills in the results as if all counts are made. @returns whether counts that do not exceed are held back */
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
        part.entry = shard.find(part.key, count.windowStart);
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

  #write(request: CountRequest, parts: readonly Part[]): void {
    const { counts, now } = request;
    // Existing entries first: an insertion may move or drop them.
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
    const { windowStart } = counts[index]!;
    const { key } = parts[index]!;
    let first = 0;
    for (; first < index; first++)
      if (counts[first]!.windowStart === windowStart && parts[first]!.key.equals(key)) break;
    parts[index]!.first = first;
  }
}

/** Does the same in linear time, so that a request of 100,000 descriptors does not block the thread. */
function linkMany(counts: readonly Count[], parts: readonly Part[]): void {
  const firsts = new Map<string, number>();
  for (let index = 0; index < counts.length; index++) {
    const key = `${counts[index]!.windowStart} ${parts[index]!.key.text}`;
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
