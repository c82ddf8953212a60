/// <reference lib="esnext.sharedmemory" />
/**
 * A lock in shared memory that no dying thread can keep.
 *
 * The lock's word is 0 or its holder's *ticket*, a number that no other thread ever gets. A table says which tickets
 * are alive. Who finds a lock whose holder is dead takes it over, and repairs what the dead thread may have left half
 * done. A worker can be terminated at any instruction (`worker.terminate()`, `process.exit()`, out of memory).
 */
import { StoreError } from "../store.ts";
import { HEADER_PARTICIPANTS, MAX_PARTICIPANTS } from "./layout.ts";

/** Low bits of a ticket: the place in the table. The rest counts how often the place was given away. */
const PLACE_BITS = 8;
const PLACE_MASK = (1 << PLACE_BITS) - 1;

/** A holder keeps a lock for at most some 20 µs of its own time; this many pauses are about as long. */
const SPINS = 200;
/** Milliseconds to sleep between two looks once the holder seems to have lost its core. */
const WAIT_STEP = 0.05;
/** Milliseconds after which a caller gets an error rather than wait on: nothing waits for ever. */
const WAIT_LIMIT = 500;

/** Gives a thread its ticket. @throws {RangeError} when all places are taken */
export function takeTicket(ints: Int32Array): number {
  for (let place = 1; place <= MAX_PARTICIPANTS; place++) {
    const index = HEADER_PARTICIPANTS + place;
    const last = Atomics.load(ints, index);
    if (last > 0) continue;
    // A place that was given back holds the negated ticket, so that the next one differs.
    const turn = ((-last >>> PLACE_BITS) + 1) & 0x7f_ffff;
    const ticket = ((turn === 0 ? 1 : turn) << PLACE_BITS) | place;
    if (Atomics.compareExchange(ints, index, last, ticket) === last) return ticket;
  }
  throw new RangeError(`an embedded store is shared by at most ${MAX_PARTICIPANTS} threads`);
}

/** Declares a ticket's thread dead. */
export function voidTicket(ints: Int32Array, ticket: number): void {
  const index = HEADER_PARTICIPANTS + (ticket & PLACE_MASK);
  Atomics.compareExchange(ints, index, ticket, -ticket);
}

function isAlive(ints: Int32Array, ticket: number): boolean {
  return Atomics.load(ints, HEADER_PARTICIPANTS + (ticket & PLACE_MASK)) === ticket;
}

export class Lock {
  readonly #ints: Int32Array;
  readonly #at: number;
  readonly #ticket: number;
  /** A holder that was waited for in vain. While it is still there nobody waits for it again: a read may bring 50 calls. */
  #suspect = 0;

  /** @param at Int32 position */
  constructor(ints: Int32Array, at: number, ticket: number) {
    this.#ints = ints;
    this.#at = at;
    this.#ticket = ticket;
  }

  /**
   * Uncontended, taking and giving back cost 13 ns together.
   * @returns whether it was taken over from a dead thread, so that what it guards must be repaired
   * @throws {StoreError} STORE_UNAVAILABLE when its holder neither goes on nor is known to be dead
   */
  acquire(): boolean {
    if (Atomics.compareExchange(this.#ints, this.#at, 0, this.#ticket) === 0) return false;
    return this.#wait();
  }

  /** Takes the lock only if it is free. */
  tryAcquire(): boolean {
    return Atomics.compareExchange(this.#ints, this.#at, 0, this.#ticket) === 0;
  }

  /** Takes the lock only if this ticket, of a dead thread, holds it. */
  takeFrom(ticket: number): boolean {
    return Atomics.compareExchange(this.#ints, this.#at, ticket, this.#ticket) === ticket;
  }

  release(): void {
    this.#suspect = 0;
    Atomics.store(this.#ints, this.#at, 0);
  }

  #wait(): boolean {
    let until = 0;
    for (let tries = 0; ; tries++) {
      const holder = Atomics.compareExchange(this.#ints, this.#at, 0, this.#ticket);
      if (holder === 0) return false;
      if (!isAlive(this.#ints, holder) && this.takeFrom(holder)) return true;
      if (tries < SPINS) {
        Atomics.pause();
        continue;
      }
      const now = performance.now();
      if (until === 0) until = now + WAIT_LIMIT;
      if (now > until || holder === this.#suspect) {
        this.#suspect = holder;
        throw new StoreError(
          "STORE_UNAVAILABLE",
          `a shard of the embedded store is held by a thread that has not gone on for ${WAIT_LIMIT} ms`,
        );
      }
      Atomics.wait(this.#ints, this.#at, holder, WAIT_STEP);
    }
  }
}
