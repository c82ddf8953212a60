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
import { DIGEST_INTS, type Digest, digestOf } from "./key-digest.ts";
import { lockShards, unlockShards } from "./shard-locks.ts";
import type { StateShard } from "./state-shard.ts";
import { insertState, writeState } from "./write-state.ts";

/** A limit of the current request. Limits with equal keys share the state of the first one. */
interface Part {
  readonly key: KeyScratch;
  readonly own: CounterState;
  limit: AcquireLimit | undefined;
  shard: StateShard | undefined;
  /** Index of the first limit with the same key. */
  first: number;
}

/** Parts that are kept between calls, half a kilobyte each. Longer requests allocate the rest. */
const KEPT_PARTS = 32;

export class Acquiring {
  readonly #table: CounterTable;
  readonly #key: KeyScratch;
  readonly #state: LimitState = { at: 0, level: 0, previous: 0 };
  readonly #digest: Digest = new Int32Array(DIGEST_INTS);
  readonly #kept: Part[] = [];
  readonly #states: CounterState[] = [];

  constructor(table: CounterTable) {
    this.#table = table;
    this.#key = table.newKey();
  }

  /** @throws {StoreError} STORE_UNAVAILABLE, before any change */
  acquire(request: AcquireRequest): void {
    const { groups, holdBack, now } = request;
    const [group] = groups;
    if (groups.length === 1 && isOneCounter(group!) && holdBack !== HoldBack.ALWAYS)
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
      if (entry !== 0) writeState(shard, entry, limit, state, now);
      else insertState(shard, key, limit, state, now);
    }
    shard.release();
  }

  #together(request: AcquireRequest): void {
    const parts = this.#prepare(request);
    const states = this.#states;
    states.length = 0;
    let mask = 0;
    for (const { shard, first } of parts) {
      mask |= 1 << shard!.index;
      states.push(parts[first]!.own);
    }
    lockShards(this.#table.shards, mask);
    for (let index = 0; index < parts.length; index++) {
      const { key, own, limit, shard, first } = parts[index]!;
      if (first !== index) continue;
      const entry = shard!.find(key, limit!.windowStart);
      if (entry !== 0) shard!.readState(entry, own);
      else own.at = own.level = own.previous = 0;
      own.held = limit!.reservations === true ? this.#heldOf(shard!, key, request.now) : 0;
    }
    acquireTogether(request, states, microsecondsOf(request));
    for (let index = 0; index < parts.length; index++) {
      const { key, own, limit, shard, first } = parts[index]!;
      if (first !== index || !own.changed) continue;
      // The write of another state may have moved or dropped the entry.
      const entry = shard!.find(key, limit!.windowStart);
      if (entry === 0) insertState(shard!, key, limit!, own, request.now);
      else writeState(shard!, entry, limit!, own, request.now);
    }
    unlockShards(this.#table.shards, mask);
  }

  /** The hits that open holds take. */
  #heldOf({ holds }: StateShard, key: KeyScratch, now: number): number {
    if (holds === undefined) return 0;
    digestOf(key, holds.seeds, this.#digest);
    return holds.sumOf(this.#digest, now);
  }

  #prepare({ groups }: AcquireRequest): readonly Part[] {
    const parts: Part[] = [];
    for (const { limits } of groups)
      for (const limit of limits) {
        const part = this.#part(parts.length);
        part.key.encode(limit);
        part.limit = limit;
        part.shard = this.#table.shardOf(part.key);
        part.first = parts.length;
        parts.push(part);
      }
    if (parts.length <= KEPT_PARTS) linkFew(parts);
    else linkMany(parts);
    return parts;
  }

  #part(index: number): Part {
    const kept = this.#kept[index];
    if (kept !== undefined) return kept;
    const own = newCounterState();
    const part = { key: this.#table.newKey(), own, limit: undefined, shard: undefined, first: 0 };
    if (index < KEPT_PARTS) this.#kept.push(part);
    return part;
  }
}

/** Whether one limit decides, and no holds count. */
function isOneCounter({ limits }: AcquireGroup): boolean {
  return limits.length === 1 && limits[0]!.reservations !== true;
}

/** Finds the first limit of each key. */
function linkFew(parts: readonly Part[]): void {
  for (let index = 1; index < parts.length; index++) {
    const { key, limit } = parts[index]!;
    let first = 0;
    for (; first < index; first++) {
      const other = parts[first]!;
      if (other.limit!.windowStart === limit!.windowStart && other.key.equals(key)) break;
    }
    parts[index]!.first = first;
  }
}

/** Does the same in linear time, so that a request of 100,000 descriptors does not block the thread. */
function linkMany(parts: readonly Part[]): void {
  const firsts = new Map<string, number>();
  for (let index = 0; index < parts.length; index++) {
    const { key, limit } = parts[index]!;
    const name = `${limit!.windowStart} ${key.text}`;
    const first = firsts.get(name) ?? index;
    if (first === index) firsts.set(name, index);
    parts[index]!.first = first;
  }
}
