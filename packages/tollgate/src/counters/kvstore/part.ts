import type { Count } from "../store.ts";
import type { Ticket } from "../transport/ticket.ts";
import type { AcquireStep } from "./acquire-step.ts";
import { lengthOf } from "./stems.ts";

/** The modes in which a part is sent. Modes can be combined. */
export const SendMode = {
  PLAIN: 0,
  /** After ASKING: its slot is migrating. */
  ASKING: 1,
  /** Sends the script's text, because the server does not know the script. */
  WITH_TEXT: 2,
  /** In a script call of its own: while its slot migrates, a call needs all of its keys on one server. */
  ALONE: 4,
} as const;

/** The work of one server for a ticket: counts, each by itself; all counts of an atomic ticket; or the groups of one step. */
export class Part {
  readonly ticket: Ticket;
  readonly mode: number;
  readonly counts: readonly Count[];
  readonly step: AcquireStep | undefined;
  /** Whether one call of a script does it. */
  readonly isScript: boolean;
  /** The number of its results. */
  readonly length: number;
  /** Approximate size of the keys, in bytes. */
  readonly bytes: number;
  /** The position of its first result in its batch. */
  first = 0;

  constructor(ticket: Ticket, counts: readonly Count[], mode: number, step?: AcquireStep) {
    this.ticket = ticket;
    this.mode = mode;
    this.counts = counts;
    this.step = step;
    this.isScript = step !== undefined || ticket.atomic;
    this.length = this.isScript ? 1 : counts.length;
    let bytes = step === undefined ? 0 : step.bytes;
    for (let index = 0; index < counts.length; index++) bytes += lengthOf(counts[index]!);
    this.bytes = bytes;
  }

  /** The same in another mode. */
  again(mode: number): Part {
    return new Part(this.ticket, this.counts, mode, this.step);
  }
}
