import type { Count } from "../store.ts";
import type { Ticket } from "../transport/ticket.ts";

/** How a count is sent. Modes can be combined. */
export const SendMode = {
  PLAIN: 0,
  /** After ASKING: its slot is migrating. */
  ASKING: 1,
  /** Sends the script's text, because the server does not know the script. */
  WITH_TEXT: 2,
} as const;

/** Counts that wait for a connection, with their tickets. `null` means all counts of an atomic ticket. */
export class Items {
  counts: (Count | null)[] = [];
  tickets: Ticket[] = [];
  modes: number[] = [];
  /** Approximate size of the keys, in bytes. */
  bytes = 0;

  get length(): number {
    return this.tickets.length;
  }

  push(count: Count | null, ticket: Ticket, mode: number): void {
    this.counts.push(count);
    this.tickets.push(ticket);
    this.modes.push(mode);
    this.bytes += sizeOf(count, ticket);
  }

  /** Moves up to `most` items, and up to `mostBytes`, from the front of another list, but at least one. This list must be empty. */
  takeFrom(other: Items, most: number, mostBytes: number): void {
    if (other.length <= most && other.bytes <= mostBytes) {
      const { counts, tickets, modes } = this;
      Object.assign(this, {
        counts: other.counts,
        tickets: other.tickets,
        modes: other.modes,
        bytes: other.bytes,
      });
      Object.assign(other, { counts, tickets, modes, bytes: 0 });
      return;
    }
    let many = 0;
    do {
      this.bytes += sizeOf(other.counts[many]!, other.tickets[many]!);
      many++;
    } while (many < Math.min(most, other.length) && this.bytes < mostBytes);
    this.counts = other.counts.splice(0, many);
    this.tickets = other.tickets.splice(0, many);
    this.modes = other.modes.splice(0, many);
    other.bytes -= this.bytes;
  }

  /** Keeps the items whose ticket is still open after `visit`. */
  keepOpen(visit: (ticket: Ticket) => void): void {
    const { counts, tickets, modes } = this;
    let kept = 0;
    this.bytes = 0;
    for (let i = 0; i < tickets.length; i++) {
      const ticket = tickets[i]!;
      visit(ticket);
      if (ticket.done) continue;
      this.bytes += sizeOf(counts[i]!, ticket);
      counts[kept] = counts[i]!;
      tickets[kept] = ticket;
      modes[kept++] = modes[i]!;
    }
    counts.length = tickets.length = modes.length = kept;
  }

  clear(): void {
    this.counts.length = 0;
    this.tickets.length = 0;
    this.modes.length = 0;
    this.bytes = 0;
  }
}

function sizeOf(count: Count | null, ticket: Ticket): number {
  if (count !== null) return count.stem.length;
  let size = 0;
  for (const { stem } of ticket.counts) size += stem.length;
  return size;
}
