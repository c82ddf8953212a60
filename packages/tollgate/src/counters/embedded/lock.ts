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
const NAP = 0.05;
/** Milliseconds after which a caller gets an error rather than wait on: nothing waits for ever. */
const PATIENCE = 500;

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

/**
 * Waits for a lock that was not free.
 * @returns whether it was taken over from a dead thread, so that what it guards must be repaired
 * @throws {StoreError} STORE_UNAVAILABLE when its holder neither goes on nor is known to be dead
 */
export function acquireContended(ints: Int32Array, lock: number, ticket: number): boolean {
  let until = 0;
  for (let tries = 0; ; tries++) {
    const holder = Atomics.compareExchange(ints, lock, 0, ticket);
    if (holder === 0) return false;
    if (!isAlive(ints, holder) && Atomics.compareExchange(ints, lock, holder, ticket) === holder) return true;
    if (tries < SPINS) {
      Atomics.pause();
      continue;
    }
    const now = performance.now();
    if (until === 0) until = now + PATIENCE;
    else if (now > until)
      throw new StoreError(
        "STORE_UNAVAILABLE",
        `a shard of the embedded store is held by a thread that has not gone on for ${PATIENCE} ms`,
      );
    Atomics.wait(ints, lock, holder, NAP);
  }
}
