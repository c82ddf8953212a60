/// <reference lib="esnext.sharedmemory" />
/** The numbers of the threads that share a block: see `lock.ts`. */
import { HEADER_PARTICIPANTS, MAX_PARTICIPANTS } from "./layout.ts";

/** Low bits of a ticket: the place in the table. The high bits count the threads that had this place. */
const PLACE_BITS = 8;
const PLACE_MASK = (1 << PLACE_BITS) - 1;

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

/** Whether the thread of a ticket has not ended. */
export function isAlive(ints: Int32Array, ticket: number): boolean {
  return Atomics.load(ints, HEADER_PARTICIPANTS + (ticket & PLACE_MASK)) === ticket;
}
