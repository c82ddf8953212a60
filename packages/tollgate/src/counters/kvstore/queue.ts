import type { Ticket } from "../transport/ticket.ts";
import type { Part } from "./part.ts";

/** Parts that wait for a connection. */
export class Queue {
  parts: Part[] = [];
  /** The number of their results. */
  length = 0;
  /** Approximate size of their keys, in bytes. */
  bytes = 0;

  push(part: Part): void {
    this.parts.push(part);
    this.length += part.length;
    this.bytes += part.bytes;
  }

  /** Takes the first parts, with about `most` results and `mostBytes`, but at least one part. */
  take(most: number, mostBytes: number): Part[] {
    let many = 0;
    let length = 0;
    let bytes = 0;
    for (; many < this.parts.length && length < most && bytes < mostBytes; many++) {
      length += this.parts[many]!.length;
      bytes += this.parts[many]!.bytes;
    }
    this.length -= length;
    this.bytes -= bytes;
    return this.parts.splice(0, many);
  }

  /** Keeps the parts whose ticket is still open after `visit`. */
  keepOpen(visit: (ticket: Ticket) => void): void {
    const parts = this.take(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
    for (const part of parts) {
      visit(part.ticket);
      if (!part.ticket.done) this.push(part);
    }
  }
}
