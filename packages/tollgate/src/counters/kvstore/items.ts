import { type Count, HoldBack, type StoreError } from "../store.ts";
import { expireTicket, Ticket } from "../transport/ticket.ts";
import { AcquireStep } from "./acquire-step.ts";
import { lengthOf } from "./stems.ts";

/** The modes in which a count is sent. Modes can be combined. */
export const SendMode = {
  PLAIN: 0,
  /** After ASKING: its slot is migrating. */
  ASKING: 1,
  /** Sends the script's text, because the server does not know the script. */
  WITH_TEXT: 2,
  /** In a script call of its own: while its slot migrates, a call needs all of its keys on one server. */
  ALONE: 4,
} as const;

/** One count, the groups of one script call, or, if null, all counts of an atomic ticket. */
export type Item = Count | AcquireStep | null;

/** Items that wait for a connection, with their tickets. The arrays keep their memory: a batch after the other needs it. */
export class Items {
  #contents: Item[] = [];
  #tickets: Ticket[] = [];
  #modes: number[] = [];
  #length = 0;
  /** Approximate size of the keys, in bytes. */
  bytes = 0;

  get length(): number {
    return this.#length;
  }

  item(index: number): Item {
    return this.#contents[index]!;
  }

  ticket(index: number): Ticket {
    return this.#tickets[index]!;
  }

  mode(index: number): number {
    return this.#modes[index]!;
  }

  /** The oldest ticket. */
  get first(): Ticket | undefined {
    return this.#length === 0 ? undefined : this.#tickets[0];
  }

  /** A copy. */
  get tickets(): Ticket[] {
    return this.#tickets.slice(0, this.#length);
  }

  push(item: Item, ticket: Ticket, mode: number): void {
    this.#set(this.#length++, item, ticket, mode);
    this.bytes += sizeOf(item, ticket);
  }

  /** Moves up to `most` items, and up to `mostBytes`, from the front of another list, but at least one. This list must be empty. */
  takeFrom(other: Items, most: number, mostBytes: number): void {
    const last = Math.min(most, other.#length);
    let many = 0;
    for (; many < last && (many === 0 || this.bytes < mostBytes); many++)
      this.push(other.item(many), other.ticket(many), other.mode(many));
    for (let i = many; i < other.#length; i++)
      other.#set(i - many, other.item(i), other.ticket(i), other.mode(i));
    other.#shorten(other.#length - many);
    other.bytes -= this.bytes;
  }

  /** Keeps the items whose ticket is still open after `visit`. */
  keepOpen(visit: (ticket: Ticket) => void): void {
    let kept = 0;
    this.bytes = 0;
    for (let i = 0; i < this.#length; i++) {
      const ticket = this.ticket(i);
      visit(ticket);
      if (ticket.done) continue;
      const item = this.item(i);
      this.bytes += sizeOf(item, ticket);
      this.#set(kept++, item, ticket, this.mode(i));
    }
    this.#shorten(kept);
  }

  fail(error: StoreError): void {
    for (let i = 0; i < this.#length; i++) this.ticket(i).fail(error);
  }

  /** Fails the tickets whose deadline has passed. @returns the earliest deadline of the others */
  expire(now: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.#length; i++) next = Math.min(next, expireTicket(this.ticket(i), now));
    return next;
  }

  clear(): void {
    this.#shorten(0);
    this.bytes = 0;
  }

  #set(index: number, item: Item, ticket: Ticket, mode: number): void {
    this.#contents[index] = item;
    this.#tickets[index] = ticket;
    this.#modes[index] = mode;
  }

  /** Unused places must not retain callers or their keys. */
  #shorten(length: number): void {
    this.#contents.fill(null, length, this.#length);
    this.#tickets.fill(noTicket, length, this.#length);
    this.#length = length;
  }
}

const noTicket = new Ticket([], HoldBack.NEVER, 0, 0, undefined, { answered() {}, failed() {} });

function sizeOf(item: Item, ticket: Ticket): number {
  if (item instanceof AcquireStep) return item.bytes;
  if (item !== null) return lengthOf(item);
  let size = 0;
  for (const count of ticket.counts) size += lengthOf(count);
  return size;
}
