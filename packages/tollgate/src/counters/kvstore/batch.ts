import { type Count, MAX_COUNT, Outcome, StoreError } from "../store.ts";
import type { Exchange } from "../transport/link.ts";
import { leave, type Ticket } from "../transport/ticket.ts";
import type { Expiries } from "./expiries.ts";
import { ErrorReply, type Reply, toInteger } from "./resp/reader.ts";
import { type CommandWriter, commandHead } from "./resp/writer.ts";
import { allOrNothing, giveBack, type Script, scriptHead } from "./scripts.ts";

/** How a count is sent; added up. */
export const Way = {
  PLAIN: 0,
  /** Behind ASKING: its slot is on the move. */
  ASKING: 1,
  /** With the script's text: the server has forgotten it. */
  WITH_TEXT: 2,
} as const;

/** What waits for a connection: a count and whose it is; `null` stands for all counts of an atomic ticket. */
export class Items {
  counts: (Count | null)[] = [];
  tickets: Ticket[] = [];
  ways: number[] = [];
  /** About the bytes of their keys. */
  bytes = 0;

  get length(): number {
    return this.tickets.length;
  }

  push(count: Count | null, ticket: Ticket, way: number): void {
    this.counts.push(count);
    this.tickets.push(ticket);
    this.ways.push(way);
    this.bytes += sizeOf(count, ticket);
  }

  /** Takes up to `most` from the front of another list, and no more than `mostBytes` but for one; this one must be empty. */
  takeFrom(other: Items, most: number, mostBytes: number): void {
    if (other.length <= most && other.bytes <= mostBytes) {
      const { counts, tickets, ways } = this;
      Object.assign(this, {
        counts: other.counts,
        tickets: other.tickets,
        ways: other.ways,
        bytes: other.bytes,
      });
      Object.assign(other, { counts, tickets, ways, bytes: 0 });
      return;
    }
    let many = 0;
    do {
      this.bytes += sizeOf(other.counts[many]!, other.tickets[many]!);
      many++;
    } while (many < Math.min(most, other.length) && this.bytes < mostBytes);
    this.counts = other.counts.splice(0, many);
    this.tickets = other.tickets.splice(0, many);
    this.ways = other.ways.splice(0, many);
    other.bytes -= this.bytes;
  }

  /** Keeps those whose ticket is still open after `visit`. */
  keepOpen(visit: (ticket: Ticket) => void): void {
    const { counts, tickets, ways } = this;
    let kept = 0;
    this.bytes = 0;
    for (let i = 0; i < tickets.length; i++) {
      const ticket = tickets[i]!;
      visit(ticket);
      if (ticket.done) continue;
      this.bytes += sizeOf(counts[i]!, ticket);
      counts[kept] = counts[i]!;
      tickets[kept] = ticket;
      ways[kept++] = ways[i]!;
    }
    counts.length = tickets.length = ways.length = kept;
  }

  clear(): void {
    this.counts.length = 0;
    this.tickets.length = 0;
    this.ways.length = 0;
    this.bytes = 0;
  }
}

function sizeOf(count: Count | null, ticket: Ticket): number {
  if (count !== null) return count.stem.length;
  let size = 0;
  for (const { stem } of ticket.counts) size += stem.length;
  return size;
}

/** A key whose expiry is to be set by itself. */
export interface FreshKey {
  readonly stem: string;
  readonly windowStart: number;
  readonly windowSize: number;
}

/** What the batch needs of its surroundings. */
export interface BatchContext {
  readonly expiries: Expiries;
  /** Seconds that a key lives: its window and some jitter. */
  lifetime(windowSize: number): number;
  /** A count that failed with an error reply: sent elsewhere, or its ticket is failed. */
  refused(error: ErrorReply, count: Count | null, ticket: Ticket, way: number): void;
  /** A key that turned out to be fresh although this process had given it its expiry. */
  fresh(key: FreshKey): void;
}

const Kind = { LOOK: 0, ADD: 1, GIVE: 2, ATOMIC: 3, EXPIRE: 4 } as const;

/** One command of a batch and its reply; used again. */
class Op {
  kind: number = Kind.LOOK;
  stem = "";
  windowStart = 0;
  windowSize = 0;
  /** The sum of its members' hits, without sign. */
  total = 0;
  ticket: Ticket | null = null;
  way = 0;
  expires = false;
  hash = 0;
  /** Atomic: the keys whose expiry the script is told to set. */
  hashes: number[] = [];
  expiryAcknowledged = false;
  reply: Reply | undefined;
  /** The counter at the member that is settled next. */
  running = 0;
}

const incrby = commandHead(3, "INCRBY");
const expire = commandHead(3, "EXPIRE");
const get = commandHead(2, "GET");
const asking = commandHead(1, "ASKING");
const give = scriptHead(giveBack, 1, 1, false);
const giveWithText = scriptHead(giveBack, 1, 1, true);

/**
 * Everything that one connection carries in one round trip. Equal keys are added up: a thousand callers of one hot
 * key are one INCRBY, and each is told its own position. One batch belongs to one connection and is used again.
 */
export class Batch implements Exchange<Reply> {
  readonly items = new Items();
  readonly #context: BatchContext;
  readonly #ops: Op[] = [];
  #used = 0;
  /** Op of each item; -1 for one whose caller has left. */
  readonly #opOf: number[] = [];
  readonly #byStem = new Map<string, Op>();
  /** Scripts that were sent on this connection. */
  readonly #known = new Set<Script>();
  /** The op whose reply comes next, and whether the reply to its ASKING has come. */
  #cursor = 0;
  #asked = false;
  #onDone: (error: StoreError | undefined) => void = () => {};
  /** Commands sent, for whoever traces round trips. */
  commands = 0;

  constructor(context: BatchContext) {
    this.#context = context;
  }

  /**
   * Writes the commands of {@link items} and of keys that want their expiry.
   * @returns false when nobody waits for any of it any more
   */
  prepare(
    writer: CommandWriter,
    fresh: FreshKey[],
    onDone: (error: StoreError | undefined) => void,
  ): boolean {
    this.#onDone = onDone;
    this.#used = this.#cursor = this.commands = 0;
    this.#asked = false;
    this.#opOf.length = 0;
    this.#byStem.clear();
    const { counts, tickets, ways } = this.items;
    for (let i = 0; i < tickets.length; i++) {
      this.#opOf.push(tickets[i]!.done ? -1 : this.#assign(counts[i]!, tickets[i]!, ways[i]!));
    }
    for (const key of fresh) {
      const op = this.#nextOp(Kind.EXPIRE, 0);
      op.stem = key.stem;
      op.windowStart = key.windowStart;
      op.windowSize = key.windowSize;
    }
    for (let i = 0; i < this.#used; i++) this.#write(writer, this.#ops[i]!);
    return this.#used > 0;
  }

  #nextOp(kind: number, way: number): Op {
    let op = this.#ops[this.#used];
    if (op === undefined) {
      op = new Op();
      this.#ops.push(op);
    }
    this.#used++;
    op.kind = kind;
    op.way = way;
    op.total = 0;
    op.expires = false;
    op.expiryAcknowledged = false;
    op.reply = undefined;
    op.ticket = null;
    return op;
  }

  #assign(count: Count | null, ticket: Ticket, way: number): number {
    if (count === null) {
      this.#nextOp(Kind.ATOMIC, way).ticket = ticket;
      return this.#used - 1;
    }
    const kind = count.hits > 0 ? Kind.ADD : count.hits < 0 ? Kind.GIVE : Kind.LOOK;
    const hits = Math.abs(count.hits);
    let op = this.#byStem.get(count.stem);
    if (
      op === undefined ||
      op.windowStart !== count.windowStart ||
      op.way !== way ||
      way === Way.ASKING ||
      (kind !== op.kind && kind !== Kind.LOOK && op.kind !== Kind.LOOK) ||
      op.total + hits > MAX_COUNT
    ) {
      op = this.#nextOp(kind, way);
      op.stem = count.stem;
      op.windowStart = count.windowStart;
      op.windowSize = count.windowSize;
      op.running = this.#used - 1;
      this.#byStem.set(count.stem, op);
    }
    if (op.kind === Kind.LOOK) op.kind = kind;
    op.total += hits;
    return op.running;
  }

  #write(writer: CommandWriter, op: Op): void {
    this.commands++;
    if ((op.way & Way.ASKING) !== 0) writer.raw(asking);
    switch (op.kind) {
      case Kind.ADD: {
        writer.raw(incrby);
        writer.key(op.stem, op.windowStart);
        op.hash = writer.hash;
        writer.integer(op.total);
        const { expiries } = this.#context;
        if (expiries.has(op.hash)) return;
        // Marked now, so that batches under way at the same time do not send it too; unmarked if it gets lost.
        expiries.add(op.hash);
        op.expires = true;
        this.commands++;
        if (op.way === Way.ASKING) writer.raw(asking);
        writer.raw(expire);
        writer.sameKey();
        writer.integer(this.#context.lifetime(op.windowSize));
        return;
      }
      case Kind.LOOK:
        writer.raw(get);
        writer.key(op.stem, op.windowStart);
        return;
      case Kind.GIVE:
        writer.raw(this.#withText(giveBack, op) ? giveWithText : give);
        writer.key(op.stem, op.windowStart);
        writer.integer(op.total);
        return;
      case Kind.EXPIRE:
        writer.raw(expire);
        writer.key(op.stem, op.windowStart);
        op.hash = writer.hash;
        writer.integer(this.#context.lifetime(op.windowSize));
        return;
      default:
        this.#writeAtomic(writer, op);
    }
  }

  /**
   * A connection's first call of a script carries its text, the others its digest. So the server knows it in time:
   * a call that has to be sent again would lose its place behind later counts of the same key.
   */
  #withText(script: Script, op: Op): boolean {
    if (this.#known.has(script) && (op.way & Way.WITH_TEXT) === 0) return false;
    this.#known.add(script);
    return true;
  }

  #writeAtomic(writer: CommandWriter, op: Op): void {
    const { counts } = op.ticket!;
    const withText = this.#withText(allOrNothing, op);
    writer.raw(scriptHead(allOrNothing, counts.length, counts.length * 3, withText));
    const { expiries } = this.#context;
    const known: boolean[] = [];
    op.hashes = [];
    for (const count of counts) {
      writer.key(count.stem, count.windowStart);
      known.push(count.hits <= 0 || expiries.has(writer.hash));
      if (known.at(-1)) continue;
      expiries.add(writer.hash);
      op.hashes.push(writer.hash);
    }
    for (let i = 0; i < counts.length; i++) {
      const count = counts[i]!;
      const lifetime = this.#context.lifetime(count.windowSize);
      writer.integer(count.hits);
      writer.integer(count.limit);
      writer.integer(known[i] ? -lifetime : lifetime);
    }
  }

  /** @returns true when it was the last reply */
  accept(reply: Reply): boolean {
    const op = this.#ops[this.#cursor]!;
    if ((op.way & Way.ASKING) !== 0) {
      this.#asked = !this.#asked;
      if (this.#asked) return false;
    }
    if (op.reply === undefined) {
      op.reply = reply;
      if (op.expires) return false;
    } else {
      op.expiryAcknowledged = reply === 1;
    }
    return ++this.#cursor === this.#used;
  }

  finish(): void {
    this.#settle(undefined);
  }

  /** The connection is gone or too slow: what was answered counts, the rest fails. */
  broken(error: StoreError): void {
    this.#settle(error);
  }

  /** Callers that leave are told at once; their hits stay in the batch that is under way. */
  leave(now: number): number {
    return leave(this.items.tickets, now);
  }

  #settle(error: StoreError | undefined): void {
    const context = this.#context;
    for (let i = 0; i < this.#used; i++) {
      const op = this.#ops[i]!;
      if (op.expires && !op.expiryAcknowledged) context.expiries.delete(op.hash);
      if (op.kind === Kind.EXPIRE && op.reply !== 1) context.expiries.delete(op.hash);
      if (op.kind === Kind.ATOMIC && !this.#settleAtomic(op))
        for (const hash of op.hashes) context.expiries.delete(hash);
      if (op.kind <= Kind.GIVE && op.reply !== undefined) start(op, context);
    }
    const { counts, tickets, ways } = this.items;
    for (let i = 0; i < tickets.length; i++) {
      const ticket = tickets[i]!;
      if (ticket.done) continue;
      const count = counts[i]!;
      const op = this.#ops[this.#opOf[i]!]!;
      if (op.reply === undefined) ticket.fail(error!);
      else if (op.reply instanceof ErrorReply) context.refused(op.reply, count, ticket, ways[i]!);
      else if (count !== null) {
        advance(op, count);
        ticket.answered();
      }
    }
    this.items.clear();
    for (let i = 0; i < this.#used; i++) this.#ops[i]!.ticket = null;
    this.#onDone(error);
  }

  /** @returns whether it was counted, and so the expiries are set */
  #settleAtomic(op: Op): boolean {
    const ticket = op.ticket!;
    const { reply } = op;
    if (reply === undefined || reply instanceof ErrorReply) return false;
    if (!Array.isArray(reply) || reply.length !== ticket.counts.length * 2) {
      ticket.fail(
        new StoreError("STORE_UNAVAILABLE", "the script for all-or-nothing answered with something else"),
      );
      return false;
    }
    if (!ticket.done)
      ticket.counts.forEach((count, i) => {
        count.outcome = Number(reply[2 * i]) as Outcome;
        count.after = Number(reply[2 * i + 1]);
      });
    ticket.answered();
    return reply[0] === Outcome.COUNTED;
  }
}

const overflow = "ERR increment or decrement would overflow";

/** Sets `running` to the counter before the op's first member. */
function start(op: Op, context: BatchContext): void {
  let { reply } = op;
  if (typeof reply === "string") reply = toIntegerReply(reply);
  if (reply === null) reply = 0;
  if (reply instanceof ErrorReply && reply.message === overflow) {
    op.reply = MAX_COUNT;
    op.running = MAX_COUNT;
    return;
  }
  op.reply = reply;
  if (op.kind === Kind.ADD) {
    if (typeof reply === "number") {
      op.running = reply - op.total;
      if (op.running === 0 && !op.expires) context.fresh(op);
    } else if (typeof reply === "bigint") op.running = Number(reply - BigInt(op.total));
  } else if (typeof reply === "number" || typeof reply === "bigint") op.running = Number(reply);
}

function toIntegerReply(text: string): Reply {
  try {
    return toInteger(text);
  } catch {
    return new ErrorReply("ERR value is not an integer or out of range");
  }
}

/** Gives one member its position. */
function advance(op: Op, count: Count): void {
  op.running = Math.max(0, Math.min(op.running + count.hits, MAX_COUNT));
  count.outcome = Outcome.COUNTED;
  count.after = op.running;
}
