/// <reference lib="esnext.sharedmemory" />
/**
 * A lock in shared memory that survives the end of its holder.
 *
 * The lock's word is 0 or its holder's *ticket*, a number that is unique to a thread. A table lists the live tickets.
 * If the holder of a lock has ended, another thread takes the lock over and repairs the shard. A worker can end at any
 * instruction (`worker.terminate()`, `process.exit()`, out of memory).
 */
import { StoreError } from "../store.ts";
import { HEADER_PARTICIPANTS, MAX_PARTICIPANTS } from "./layout.ts";

/** Low bits of a ticket: the place in the table. The high bits count the threads that had this place. */
const PLACE_BITS = 8;
const PLACE_MASK = (1 << PLACE_BITS) - 1;

/** A thread holds a lock for at most about 20 µs of its own time. This many pauses take about as long. */
const SPINS = 200;
/** Milliseconds to sleep between two attempts when the holder is probably not running. */
const WAIT_STEP = 0.05;
/** Milliseconds after which a waiting caller gets an error. */
const WAIT_LIMIT = 500;

/** Issues a ticket for a thread. @throws {RangeError} when all places are taken */
export function takeTicket(ints: Int32Array): number {
  for (let place = 1; place <= MAX_PARTICIPANTS; place++) {
    const index = HEADER_PARTICIPANTS + place;
    const last = Atomics.load(ints, index);
    if (last > 0) continue;
    // A free place holds its last ticket, negated, so that the next ticket differs.
    const turn = ((-last >>> PLACE_BITS) + 1) & 0x7f_ffff;
    const ticket = ((turn === 0 ? 1 : turn) << PLACE_BITS) | place;
    if (Atomics.compareExchange(ints, index, last, ticket) === last) return ticket;
  }
  throw new RangeError(`an embedded store is shared by at most ${MAX_PARTICIPANTS} threads`);
}

/** Invalidates the ticket of a thread that has ended. */
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
  /** A holder that exceeded the wait limit. Later calls do not wait for it again: one read may bring 50 calls. */
  #suspect = 0;

  /** @param at Int32 position */
  constructor(ints: Int32Array, at: number, ticket: number) {
    this.#ints = ints;
    this.#at = at;
    this.#ticket = ticket;
  }

  /**
   * An uncontended acquire and release take 13 ns together.
   * @returns whether the previous holder has ended, so that the caller must repair the shard
   * @throws {StoreError} STORE_UNAVAILABLE when a live holder exceeds the wait limit
   */
  acquire(): boolean {
    if (Atomics.compareExchange(this.#ints, this.#at, 0, this.#ticket) === 0) return false;
    return this.#wait();
  }

  /** Takes the lock only if it is free. */
  tryAcquire(): boolean {
    return Atomics.compareExchange(this.#ints, this.#at, 0, this.#ticket) === 0;
  }

  /** Takes the lock only if this ticket holds it. The ticket's thread must have ended. */
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
          `another thread has held the lock of a shard of the embedded store for ${WAIT_LIMIT} ms`,
        );
      }
      Atomics.wait(this.#ints, this.#at, holder, WAIT_STEP);
    }
  }
}
