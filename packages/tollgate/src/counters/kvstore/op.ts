import { MAX_COUNT, type StemPlace } from "../store.ts";
import type { Ticket } from "../transport/ticket.ts";
import type { AcquireCall } from "./acquire-call.ts";
import { ErrorReply, type Reply, toInteger } from "./resp/reader.ts";
import type { SettleCall } from "./settle-call.ts";

/** The kinds of commands. */
export const Kind = { LOOK: 0, ADD: 1, REFUND: 2, ATOMIC: 3, EXPIRE: 4, ACQUIRE: 5, SETTLE: 6 } as const;

/** One command of a batch, with its reply. Batches reuse their ops. */
export class Op {
  kind: number = Kind.LOOK;
  stem = "";
  place: StemPlace | undefined;
  hashOfStem = 0;
  windowStart = 0;
  windowSize = 0;
  /** The sum of its members' absolute hits. */
  total = 0;
  ticket: Ticket | null = null;
  mode = 0;
  expires = false;
  /** Add, look, refund: the place of its key in the buffer of the writer. */
  keyStart = 0;
  keyEnd = 0;
  /** The hash of the whole key. */
  hash = 0;
  /** Atomic: for each count, the hash of its key if the script sets its expiry. */
  hashes: (number | undefined)[] = [];
  expiryAcknowledged = false;
  /** Acquire: the call of the script for limits. */
  acquire: AcquireCall | undefined;
  /** Settle: the call of the script for reservations. */
  settle: SettleCall | undefined;
  reply: Reply | undefined;
  /** The counter before the next member to settle. */
  running = 0;

  /** An op that waits for its next batch must not retain callers or their keys. */
  release(): void {
    this.ticket = null;
    this.stem = "";
    this.place = undefined;
    this.reply = undefined;
    this.acquire?.clear();
    this.settle?.clear();
    this.acquire = this.settle = undefined;
  }
}

const OVERFLOW_MESSAGE = "ERR increment or decrement would overflow";

/**
 * Sets `running` to the counter before the op's first member.
 * @returns whether the key was fresh
 */
export function startPositions(op: Op): boolean {
  let { reply } = op;
  if (typeof reply === "string") reply = toIntegerReply(reply);
  if (reply === null) reply = 0;
  if (reply instanceof ErrorReply && reply.message === OVERFLOW_MESSAGE) {
    op.reply = MAX_COUNT;
    op.running = MAX_COUNT;
    return false;
  }
  if (typeof reply === "number") {
    op.running = op.kind === Kind.ADD ? reply - op.total : reply;
    op.reply = reply;
    return op.kind === Kind.ADD && op.running === 0;
  }
  if (typeof reply === "bigint") op.running = Number(op.kind === Kind.ADD ? reply - BigInt(op.total) : reply);
  else if (!(reply instanceof ErrorReply)) reply = new ErrorReply("ERR the reply is not a number");
  op.reply = reply;
  return false;
}

function toIntegerReply(text: string): Reply {
  try {
    return toInteger(text);
  } catch {
    return new ErrorReply("ERR value is not an integer or out of range");
  }
}

/** The counter after the op's next member. */
export function nextPosition(op: Op, hits: number): number {
  op.running = Math.max(0, Math.min(op.running + hits, MAX_COUNT));
  return op.running;
}
