/**
 * Decides limits of any algorithm in the embedded store. A request of one limit locks one shard. For others the thread
 * locks all shards of the request, in order, from the first look to the last change, so that no other thread sees or
 * makes a state in between.
 */
import {
  acquireAlone,
  acquireTogether,
  type CounterState,
  microsecondsOf,
  newCounterState,
} from "../acquire.ts";
import type { LimitState } from "../algorithms/algorithm.ts";
import { type AcquireGroup, type AcquireLimit, type AcquireRequest, HoldBack } from "../store.ts";
import type { CounterTable } from "./counter-table.ts";
import type { Hint, HintCache } from "./hints.ts";
import type { KeyScratch } from "./key.ts";
import type { Lifetime, Shard } from "./shard.ts";
import { lockShards, unlockShards } from "./shard-locks.ts";

/**
 * The end of an entry is rounded up to this part of its state's length. A state that goes on then moves to a new entry
 * at most twice within its length.
 */
const END_STEP = 1 / 2;

/** A limit of the current request. The states of equal keys are one object. */
interface Part {
  readonly limit: AcquireLimit;
  readonly key: KeyScratch;
  readonly shard: Shard;
  /** Of the first limit with the same key, else undefined. */
  readonly first: Part | undefined;
  readonly state: CounterState;
}

export class Acquiring {
  readonly #table: CounterTable;
  readonly #hints: HintCache;
  readonly #key: KeyScratch;
  readonly #state: LimitState = { at: 0, level: 0, previous: 0 };

  constructor(table: CounterTable, hints: HintCache) {
    this.#table = table;
    this.#hints = hints;
    this.#key = table.newKey();
  }

  /** @throws {StoreError} STORE_UNAVAILABLE, before any change */
  acquire(request: AcquireRequest): void {
    const { groups, holdBack, now } = request;
    const [group] = groups;
    if (groups.length === 1 && group!.limits.length === 1 && holdBack !== HoldBack.ALWAYS)
      this.#one(group!, group!.limits[0]!, now);
    else this.#together(request);
  }

  #one(group: AcquireGroup, limit: AcquireLimit, now: number): void {
    const { stem, windowStart } = limit;
    const hint = this.#hints.get(stem);
    if (hint !== undefined && hint.windowStart === windowStart) {
      const { shard } = hint;
      shard.acquire();
      const good = shard.words[hint.generationAt] === hint.generation && !shard.hasMoved(hint.entry);
      if (good) {
        const entry = this.#change(shard, hint.entry, group, limit, now);
        if (entry !== hint.entry) aim(hint, shard, entry);
      }
      shard.release();
      if (good) return;
    }
    const key = this.#key;
    key.encode(stem);
    const shard = this.#table.shardOf(key);
    shard.acquire();
    let entry = shard.find(key, windowStart);
    if (entry !== 0) entry = this.#change(shard, entry, group, limit, now);
    else {
      const state = this.#state;
      state.at = 0;
      state.level = 0;
      state.previous = 0;
      if (acquireAlone(group, limit, state, now * 1000)) entry = insert(shard, key, limit, state, now);
    }
    if (entry !== 0 && hint !== undefined) {
      hint.windowStart = windowStart;
      aim(hint, shard, entry);
    } else if (entry !== 0 && this.#hints.admits(key.hash, stem)) {
      const added = { shard, windowStart, entry, generationAt: 0, generation: 0 };
      aim(added, shard, entry);
      this.#hints.add(stem, added);
    }
    shard.release();
  }

  /** @returns the entry's position afterwards */
  #change(shard: Shard, entry: number, group: AcquireGroup, limit: AcquireLimit, now: number): number {
    const state = this.#state;
    shard.readState(entry, state);
    return acquireAlone(group, limit, state, now * 1000) ? write(shard, entry, limit, state, now) : entry;
  }

  #together(request: AcquireRequest): void {
    const parts = this.#prepare(request);
    let mask = 0;
    for (const { shard } of parts) mask |= 1 << shard.index;
    lockShards(this.#table.shards, mask);
    for (const part of parts) {
      if (part.first !== undefined) continue;
      const entry = part.shard.find(part.key, part.limit.windowStart);
      if (entry !== 0) part.shard.readState(entry, part.state);
    }
    acquireTogether(
      request,
      parts.map(({ state }) => state),
      microsecondsOf(request),
    );
    for (const { first, state, shard, key, limit } of parts) {
      if (first !== undefined || !state.changed) continue;
      // The write of another state may have moved or dropped the entry.
      const entry = shard.find(key, limit.windowStart);
      if (entry === 0) insert(shard, key, limit, state, request.now);
      else write(shard, entry, limit, state, request.now);
    }
    unlockShards(this.#table.shards, mask);
  }

  #prepare({ groups }: AcquireRequest): readonly Part[] {
    const parts: Part[] = [];
    const firsts = new Map<string, Part>();
    for (const { limits } of groups) {
      for (const limit of limits) {
        const name = `${limit.windowStart} ${limit.stem}`;
        const first = firsts.get(name);
        if (first !== undefined) {
          const { key, shard, state } = first;
          parts.push({ limit, key, shard, first, state });
          continue;
        }
        const key = this.#table.newKey();
        key.encode(limit.stem);
        const shard = this.#table.shardOf(key);
        const part = { limit, key, shard, first: undefined, state: newCounterState() };
        firsts.set(name, part);
        parts.push(part);
      }
    }
    return parts;
  }
}

/** Lets a hint lead to an entry. */
function aim(hint: Omit<Hint, "bytes">, shard: Shard, entry: number): void {
  hint.entry = entry;
  hint.generationAt = shard.generationAt(entry);
  hint.generation = shard.words[hint.generationAt]!;
}

/** Writes the changed state of an entry. @returns its position afterwards */
function write(shard: Shard, entry: number, limit: AcquireLimit, state: LimitState, now: number): number {
  const { algorithm } = limit;
  const isProtected = !isEmpty(state) && algorithm.isUsedUp(state, limit);
  const end = endOf(limit, state);
  if (!shard.endsBefore(entry, end)) {
    shard.writeState(entry, state, isProtected);
    return entry;
  }
  return shard.moveState(entry, lifetimeOf(limit, end), state, isProtected, now);
}

/** Adds the entry of a new state. @returns its word position, 0 if the state needs no entry */
function insert(shard: Shard, key: KeyScratch, limit: AcquireLimit, state: LimitState, now: number): number {
  if (isEmpty(state)) return 0;
  const { algorithm } = limit;
  const lifetime = lifetimeOf(limit, endOf(limit, state));
  return shard.insertState(key, lifetime, state, algorithm.words, algorithm.isUsedUp(state, limit), now);
}

/** Whether a state is the same as no state. */
function isEmpty({ at, level }: LimitState): boolean {
  return level === 0 && at === 0;
}

function lifetimeOf(limit: AcquireLimit, end: number): Lifetime {
  return { start: limit.windowStart, end, length: limit.algorithm.stateLength(limit) };
}

/** The end of a state's entry, in seconds. 0 for an empty state. */
function endOf(limit: AcquireLimit, state: LimitState): number {
  const { algorithm } = limit;
  if (isEmpty(state)) return 0;
  const end = algorithm.end(state, limit);
  if (algorithm.perWindow) return end;
  const step = Math.max(Math.floor(algorithm.stateLength(limit) * END_STEP), 1);
  return Math.ceil(end / step) * step;
}
