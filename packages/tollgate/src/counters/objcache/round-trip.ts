import { type Count, MAX_COUNT, Outcome, StoreError } from "../store.ts";
import type { Exchange } from "../transport/link.ts";
import { type Ticket, unusableAnswer } from "../transport/ticket.ts";
import type { ObjcacheGauges } from "./objcache-options.ts";
import type { TextReply } from "./reply.ts";

/** Hits of answered calls that are not sent yet. */
export interface Increment {
  /** Negative if refunds exceed the hits. */
  hits: number;
  readonly windowSize: number;
  /** The node does not hold the key. */
  absent: boolean;
}

/** A count that waits for the value of its counter. */
export interface Member {
  readonly key: string;
  readonly count: Count;
  readonly ticket: Ticket;
}

export interface RoundTripContext {
  /** Unsent hits of this connection. */
  readonly increments: Map<string, Increment>;
  readonly gauges: ObjcacheGauges;
  readonly maxIncrements: number;
  /** An expiry in memcached's format. */
  expiry(windowSize: number): number;
  /** Called when all counters of an atomic request are known. */
  looked(ticket: Ticket): void;
  lost(hits: Increment): void;
}

const KEYS_PER_GET = 64;

/**
 * One round trip of a connection: first the due increments, then the reads that callers wait for. Hits that this process
 * already answered were sent before the key is read, or wait in `increments` and are added to the read value. So
 * positions are exact within one process, although no caller waits for an increment.
 */
export class RoundTrip implements Exchange<TextReply> {
  readonly #context: RoundTripContext;
  readonly #members: readonly Member[];
  readonly #sent: [string, Increment][];
  readonly #values = new Map<string, string>();
  readonly #failedGets = new Set<number>();
  readonly #onDone: (error: StoreError | undefined) => void;
  /** The commands whose replies follow: `a`dd, `i`ncrement or decrement, `g`et. */
  readonly #expected: ("a" | "i" | "g")[] = [];
  #cursor = 0;
  #acknowledged = 0;
  #gets = 0;
  readonly #keys: string[];
  readonly text: string;

  constructor(
    context: RoundTripContext,
    members: readonly Member[],
    increments: [string, Increment][],
    onDone: (error: StoreError | undefined) => void,
  ) {
    this.#context = context;
    this.#members = members;
    this.#sent = increments;
    this.#onDone = onDone;
    this.#keys = [...new Set(members.map(({ key }) => key))];
    let text = "";
    for (const [key, { hits, windowSize, absent }] of increments) {
      if (absent) {
        // The first process creates the counter, and all processes increment it.
        text += `add ${key} 0 ${context.expiry(windowSize)} 1\r\n0\r\n`;
        this.#expected.push("a");
      }
      text += hits > 0 ? `incr ${key} ${hits}\r\n` : `decr ${key} ${-hits}\r\n`;
      this.#expected.push("i");
    }
    for (let i = 0; i < this.#keys.length; i += KEYS_PER_GET) {
      text += `get ${this.#keys.slice(i, i + KEYS_PER_GET).join(" ")}\r\n`;
      this.#expected.push("g");
    }
    this.text = text;
    context.gauges.keysRequested += this.#keys.length;
  }

  accept(reply: TextReply): boolean {
    const { gauges } = this.#context;
    if (typeof reply !== "string") {
      this.#values.set(reply.key, reply.data);
      gauges.keysFound++;
      return false;
    }
    switch (this.#expected[this.#cursor++]) {
      case "a":
        if (reply === "STORED") gauges.addSuccess++;
        else if (reply === "NOT_STORED") gauges.addNotStored++;
        else gauges.addError++;
        break;
      case "i":
        this.#incremented(reply);
        break;
      case "g":
        if (reply === "END") gauges.multigetSuccess++;
        else {
          gauges.multigetError++;
          this.#failedGets.add(this.#gets);
        }
        this.#gets++;
        break;
    }
    return this.#cursor === this.#expected.length;
  }

  finish(): void {
    this.#settle(undefined);
  }

  broken(error: StoreError): void {
    // The node may have counted some of these. Sending them again could count them twice.
    for (const [, increment] of this.#sent.slice(this.#acknowledged)) this.#context.lost(increment);
    const { gauges } = this.#context;
    for (const kind of this.#expected.slice(this.#cursor))
      gauges[kind === "a" ? "addError" : kind === "i" ? "incrementError" : "multigetError"]++;
    this.#settle(error);
  }

  #incremented(reply: string): void {
    const [key, increment] = this.#sent[this.#acknowledged++]!;
    const { gauges } = this.#context;
    if (/^\d+/.test(reply)) {
      gauges.incrementSuccess++;
      return;
    }
    if (reply === "NOT_FOUND") gauges.incrementMiss++;
    else gauges.incrementError++;
    if (reply === "NOT_FOUND" && increment.hits < 0) return;
    if (reply === "NOT_FOUND" && !increment.absent) this.#recreate(key, increment);
    else this.#context.lost(increment);
  }

  /** The node evicted the key. The next batch creates it again. */
  #recreate(key: string, increment: Increment): void {
    const waiting = this.#context.increments.get(key);
    if (waiting === undefined) this.#context.increments.set(key, { ...increment, absent: true });
    else {
      waiting.hits += increment.hits;
      waiting.absent = true;
    }
  }

  #settle(error: StoreError | undefined): void {
    const failed = new Set<string>();
    for (const get of this.#failedGets)
      for (const key of this.#keys.slice(get * KEYS_PER_GET, (get + 1) * KEYS_PER_GET)) failed.add(key);
    for (const member of this.#members) {
      const { ticket } = member;
      if (ticket.done) continue;
      try {
        if (error !== undefined) ticket.fail(error);
        else if (failed.has(member.key))
          ticket.fail(
            new StoreError("STORE_UNAVAILABLE", "a node answered the read of a counter with an error"),
          );
        else this.#answer(member);
      } catch (cause) {
        // A fault in one caller's answer must not block the other callers.
        ticket.fail(unusableAnswer(cause));
      }
    }
    this.#onDone(error);
  }

  #answer({ key, count, ticket }: Member): void {
    const data = this.#values.get(key);
    // After a decrement memcached pads the number with spaces to its former length.
    const value = data === undefined ? 0 : Number(data.trimEnd());
    if (!Number.isFinite(value)) {
      ticket.fail(new StoreError("STORE_UNAVAILABLE", "the value of a key is not a counter"));
      return;
    }
    const { increments, maxIncrements } = this.#context;
    const waiting = increments.get(key);
    const before = Math.max(0, Math.min(value + (waiting?.hits ?? 0), MAX_COUNT));
    if (ticket.atomic) {
      count.after = before;
      if (ticket.left === 1) this.#context.looked(ticket);
      ticket.answered();
      return;
    }
    if (count.hits !== 0 && waiting === undefined && increments.size >= maxIncrements) {
      ticket.fail(new StoreError("STORE_FULL", `${increments.size} keys already wait for their increment`));
      return;
    }
    const after = Math.max(0, Math.min(before + count.hits, MAX_COUNT));
    addHits(increments, key, after - before, count.windowSize, data === undefined);
    count.outcome = Outcome.COUNTED;
    count.after = after;
    ticket.answered();
  }
}

/** Adds unsent hits. */
export function addHits(
  increments: Map<string, Increment>,
  key: string,
  hits: number,
  windowSize: number,
  absent: boolean,
): void {
  if (hits === 0) return;
  const waiting = increments.get(key);
  if (waiting === undefined) increments.set(key, { hits, windowSize, absent });
  else waiting.hits += hits;
}
