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
  readonly #key: KeyScratch;
  readonly #state: LimitState = { at: 0, level: 0, previous: 0 };

  constructor(table: CounterTable) {
    this.#table = table;
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
    const { windowStart } = limit;
    const key = this.#key;
    key.encode(limit);
    const shard = this.#table.shardOf(key);
    const state = this.#state;
    shard.acquire();
    const entry = shard.find(key, windowStart);
    if (entry !== 0) shard.readState(entry, state);
    else {
      state.at = 0;
      state.level = 0;
      state.previous = 0;
    }
    if (acquireAlone(group, limit, state, now * 1000)) {
      if (entry !== 0) write(shard, entry, limit, state, now);
      else insert(shard, key, limit, state, now);
    }
    shard.release();
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
        key.encode(limit);
        const shard = this.#table.shardOf(key);
        const part = { limit, key, shard, first: undefined, state: newCounterState() };
        firsts.set(name, part);
        parts.push(part);
      }
    }
    return parts;
  }
}

/** Writes the changed state of an entry. */
function write(shard: Shard, entry: number, limit: AcquireLimit, state: LimitState, now: number): void {
  const { algorithm } = limit;
  const isProtected = !isEmpty(state) && algorithm.isUsedUp(state, limit);
  const end = endOf(limit, state);
  if (shard.endsBefore(entry, end)) shard.moveState(entry, lifetimeOf(limit, end), state, isProtected, now);
  else shard.writeState(entry, state, isProtected);
}

/** Adds the entry of a new state, unless it needs none. */
function insert(shard: Shard, key: KeyScratch, limit: AcquireLimit, state: LimitState, now: number): void {
  if (isEmpty(state)) return;
  const { algorithm } = limit;
  const lifetime = lifetimeOf(limit, endOf(limit, state));
  shard.insertState(key, lifetime, state, algorithm.words, algorithm.isUsedUp(state, limit), now);
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
