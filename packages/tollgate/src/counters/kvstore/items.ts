import type { Count } from "../store.ts";
import type { Ticket } from "../transport/ticket.ts";
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

/** Items that wait for a connection, with their tickets. */
export class Items {
  contents: Item[] = [];
  tickets: Ticket[] = [];
  modes: number[] = [];
  /** Approximate size of the keys, in bytes. */
  bytes = 0;

  get length(): number {
    return this.tickets.length;
  }

  push(item: Item, ticket: Ticket, mode: number): void {
    this.contents.push(item);
    this.tickets.push(ticket);
    this.modes.push(mode);
    this.bytes += sizeOf(item, ticket);
  }

  /** Moves up to `most` items, and up to `mostBytes`, from the front of another list, but at least one. This list must be empty. */
  takeFrom(other: Items, most: number, mostBytes: number): void {
    if (other.length <= most && other.bytes <= mostBytes) {
      const { contents, tickets, modes } = this;
      Object.assign(this, {
        contents: other.contents,
        tickets: other.tickets,
        modes: other.modes,
        bytes: other.bytes,
      });
      Object.assign(other, { contents, tickets, modes, bytes: 0 });
      return;
    }
    let many = 0;
    do {
      this.bytes += sizeOf(other.contents[many]!, other.tickets[many]!);
      many++;
    } while (many < Math.min(most, other.length) && this.bytes < mostBytes);
    this.contents = other.contents.splice(0, many);
    this.tickets = other.tickets.splice(0, many);
    this.modes = other.modes.splice(0, many);
    other.bytes -= this.bytes;
  }

  /** Keeps the items whose ticket is still open after `visit`. */
  keepOpen(visit: (ticket: Ticket) => void): void {
    const { contents, tickets, modes } = this;
    let kept = 0;
    this.bytes = 0;
    for (let i = 0; i < tickets.length; i++) {
      const ticket = tickets[i]!;
      visit(ticket);
      if (ticket.done) continue;
      this.bytes += sizeOf(contents[i]!, ticket);
      contents[kept] = contents[i]!;
      tickets[kept] = ticket;
      modes[kept++] = modes[i]!;
    }
    contents.length = tickets.length = modes.length = kept;
  }

  clear(): void {
    this.contents.length = 0;
    this.tickets.length = 0;
    this.modes.length = 0;
    this.bytes = 0;
  }
}

function sizeOf(item: Item, ticket: Ticket): number {
  if (item instanceof AcquireStep) return item.bytes;
  if (item !== null) return lengthOf(item);
  let size = 0;
  for (const count of ticket.counts) size += lengthOf(count);
  return size;
}
