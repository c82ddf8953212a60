/**
 * Reservations in the embedded store. The thread locks the shards of all counters of a request, in order, from the
 * first look to the last change. A counter and its holds have the same lock.
 */
import { newCounterState } from "../acquire.ts";
import {
  changesNothing,
  type LedgerState,
  newLedgerState,
  type ReservationRequest,
  type ReservedLimit,
  Step,
  settleTogether,
  type Token,
  Verdict,
} from "../reservations.ts";
import { StoreError } from "../store.ts";
import type { CounterTable } from "./counter-table.ts";
import type { Held, Holds } from "./holds.ts";
import type { KeyScratch } from "./key.ts";
import { DIGEST_INTS, type Digest, digestOf } from "./key-digest.ts";
import { lockShards, unlockShards } from "./shard-locks.ts";
import type { StateShard } from "./state-shard.ts";
import { insertState, writeState } from "./write-state.ts";

/** A limit of the current request. Limits of one counter share the state of the first one. */
interface Part {
  readonly key: KeyScratch;
  readonly digest: Digest;
  readonly state: LedgerState & Held;
  limit: ReservedLimit;
  shard: StateShard;
  holds: Holds;
  first: number;
  /** Of its state; 0 for none. The write of another state may move or drop it. */
  entry: number;
}

/** Parts that are kept between calls. Longer requests allocate the rest. */
const KEPT_PARTS = 32;

export class Settling {
  readonly #table: CounterTable;
  readonly #kept: Part[] = [];
  readonly #parts: Part[] = [];
  readonly #states: LedgerState[] = [];

  constructor(table: CounterTable) {
    this.#table = table;
  }

  /** @throws {StoreError} STORE_UNAVAILABLE, before any change */
  settle(request: ReservationRequest): void {
    const { shards } = this.#table;
    const mask = this.#prepare(request);
    if (this.#parts.length === 1) {
      const { shard } = this.#parts[0]!;
      shard.acquire();
      this.#decide(request);
      shard.release();
      return;
    }
    lockShards(shards, mask);
    this.#decide(request);
    unlockShards(shards, mask);
  }

  #decide(request: ReservationRequest): void {
    const { step, now } = request;
    // A new token has no hold yet.
    const token = step === Step.RESERVE ? undefined : request.token;
    const parts = this.#parts;
    let newHolds = 0;
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index]!;
      const { key, digest, state, limit, shard, holds, first } = part;
      if (first !== index) continue;
      const entry = shard.find(key, limit.windowStart);
      part.entry = entry;
      if (entry !== 0) shard.readState(entry, state);
      else state.at = state.level = state.previous = 0;
      holds.read(digest, token, now, state);
      if (step !== Step.LOOK) holds.report(state);
      newHolds++;
    }
    settleTogether(request, this.#states, now * 1000);
    if (step === Step.RESERVE && request.verdict === Verdict.OK && !this.#haveRoom(newHolds)) {
      request.verdict = Verdict.FULL;
      return;
    }
    if (changesNothing(step) || request.verdict !== Verdict.OK) return;
    for (let index = 0; index < parts.length; index++)
      if (parts[index]!.first === index) save(parts[index]!, request, parts.length === 1);
  }

  #haveRoom(newHolds: number): boolean {
    for (const { holds } of this.#parts) if (!holds.hasRoom(newHolds)) return false;
    return true;
  }

  /** Fills in the parts. @returns a bit for each shard */
  #prepare({ groups }: ReservationRequest): number {
    const parts = this.#parts;
    parts.length = this.#states.length = 0;
    let mask = 0;
    for (let index = 0; index < groups.length; index++) {
      const { limits } = groups[index]!;
      for (let each = 0; each < limits.length; each++) {
        const part = this.#part(parts.length, limits[each]!);
        mask |= 1 << part.shard.index;
        part.first = parts.length;
        parts.push(part);
      }
    }
    if (parts.length <= KEPT_PARTS) linkFew(parts);
    else linkMany(parts);
    for (let index = 0; index < parts.length; index++) this.#states.push(parts[parts[index]!.first]!.state);
    return mask;
  }

  #part(index: number, limit: ReservedLimit): Part {
    const kept = this.#kept[index];
    const key = kept?.key ?? this.#table.newKey();
    key.encode(limit);
    const shard = this.#table.shardOf(key);
    const { holds } = shard;
    if (holds === undefined) throw new StoreError("UNSUPPORTED", "the store has no memory for reservations");
    const part =
      kept ??
      ({
        key,
        digest: new Int32Array(DIGEST_INTS),
        state: { ...newLedgerState(newCounterState()), ledger: 0, slot: 0 },
        limit,
        shard,
        holds,
        first: 0,
        entry: 0,
      } satisfies Part);
    part.limit = limit;
    part.shard = shard;
    part.holds = holds;
    digestOf(key, holds.seeds, part.digest);
    limit.digest = part.digest;
    if (kept === undefined && index < KEPT_PARTS) this.#kept.push(part);
    return part;
  }
}

/** Finds the first limit of each counter. */
function linkFew(parts: readonly Part[]): void {
  for (let index = 1; index < parts.length; index++) {
    const part = parts[index]!;
    let first = 0;
    while (first < index && !isSame(parts[first]!, part)) first++;
    part.first = first;
  }
}

function isSame(a: Part, b: Part): boolean {
  if (a.limit.windowStart !== b.limit.windowStart) return false;
  for (let index = 0; index < DIGEST_INTS; index++) if (a.digest[index] !== b.digest[index]) return false;
  return true;
}

/** Does the same in linear time. */
function linkMany(parts: readonly Part[]): void {
  const firsts = new Map<string, number>();
  for (const [index, part] of parts.entries()) {
    const name = `${part.limit.windowStart} ${part.digest.join()}`;
    const first = firsts.get(name) ?? index;
    if (first === index) firsts.set(name, index);
    part.first = first;
  }
}

function save(part: Part, { token, ttl, now }: ReservationRequest, isAlone: boolean): void {
  const { state } = part;
  if (token !== undefined && state.adds > 0) addHold(part, token, now + ttl);
  if (token !== undefined && state.ends) part.holds.end(part.digest, token, now, state.slot);
  if (!state.changed && state.adds === 0) return;
  const { key, limit, shard } = part;
  const entry = isAlone ? part.entry : shard.find(key, limit.windowStart);
  const isHeld = state.held > 0;
  if (!state.changed) {
    if (entry !== 0) shard.mark(entry, true);
  } else if (entry === 0) insertState(shard, key, limit, state, now, isHeld);
  else writeState(shard, entry, limit, state, now, isHeld);
}

function addHold({ limit, holds, digest, state }: Part, token: Token, end: number): void {
  const { algorithm, windowStart, windowSize } = limit;
  const until = algorithm.perWindow ? Math.min(end, (windowStart + windowSize) * 1000) : end;
  holds.add(digest, token, { amount: state.adds, until, end }, state.ledger);
}
