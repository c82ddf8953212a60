/** One call of the script for reservations: its keys, its arguments, and the results from its reply. */
import { acquireTogether, keyOf, newCounterState } from "../acquire.ts";
import {
  type LedgerState,
  newLedgerState,
  type ReservationRequest,
  type ReservedLimit,
  settleTogether,
  type Token,
} from "../reservations.ts";
import { type AcquireRequest, StoreError } from "../store.ts";
import { ledgerOf } from "./ledger-keys.ts";
import { ErrorReply, type Reply } from "./resp/reader.ts";
import type { CommandWriter } from "./resp/writer.ts";
import { ACQUIRE_STEP, KEYS_PER_COUNTER, SETTLE_ARGS, WORDS_PER_COUNTER } from "./settle-script.ts";
import { kinds, UNUSABLE } from "./states-script.ts";

/** One key of a call. */
interface Counter {
  readonly limit: ReservedLimit;
  readonly ledger: string;
  readonly number: number;
  readonly state: LedgerState;
}

/** A reservation's step, or a decision that sees holds. */
export type Settled =
  | { readonly request: ReservationRequest; readonly isDecision: false }
  | { readonly request: AcquireRequest; readonly isDecision: true };

const MICROSECONDS = 1000;

export class SettleCall {
  readonly #settled: Settled;
  readonly #counters: Counter[] = [];
  /** One for each limit, in order. */
  readonly #ofLimits: Counter[] = [];
  /** Approximate size of the keys, in bytes. */
  readonly bytes: number;

  constructor(settled: Settled, isCluster: boolean) {
    this.#settled = settled;
    const { groups } = settled.request;
    const byKey =
      groups.length === 1 && groups[0]!.limits.length === 1 ? undefined : new Map<string, Counter>();
    let bytes = 0;
    for (const { limits } of groups)
      for (const limit of limits as readonly ReservedLimit[]) {
        const key = byKey && keyOf(limit);
        let counter = key === undefined ? undefined : byKey!.get(key);
        if (counter === undefined) {
          const home = settled.isDecision ? { ...limit, homeStart: limit.windowStart } : limit;
          const number = this.#counters.length + 1;
          const state = newLedgerState(newCounterState());
          counter = { limit, ledger: ledgerOf(home, isCluster), number, state };
          if (key !== undefined) byKey!.set(key, counter);
          this.#counters.push(counter);
          bytes += KEYS_PER_COUNTER * limit.stem.length;
        }
        this.#ofLimits.push(counter);
      }
    this.bytes = bytes;
  }

  get keys(): number {
    return KEYS_PER_COUNTER * this.#counters.length;
  }

  /** Number of arguments of the script. */
  get args(): number {
    const { first, counter, group, limit } = SETTLE_ARGS;
    const { groups } = this.#settled.request;
    return first + counter * this.#counters.length + group * groups.length + limit * this.#ofLimits.length;
  }

  /**
   * @param now microseconds since the epoch; 0 for the server's clock
   * @param jitter seconds that a key outlives its state
   */
  write(writer: CommandWriter, now: number, jitter: number): void {
    const { request, isDecision } = this.#settled;
    for (const { limit, ledger } of this.#counters) {
      if (limit.algorithm.perWindow) writer.key(limit.stem, limit.windowStart);
      else writer.stem(limit.stem);
      writer.stem(`${ledger}holds`);
      writer.stem(`${ledger}ends`);
      writer.stem(`${ledger}commits`);
    }
    writer.integer(now);
    writer.integer(jitter);
    writer.integer(Math.floor(request.now));
    writer.integer(isDecision ? ACQUIRE_STEP : request.step);
    writer.integer(isDecision ? request.holdBack : 0);
    writer.text(isDecision || request.token === undefined ? "" : textOf(request.token));
    writer.integer(isDecision ? 0 : request.ttl);
    writer.integer(isDecision ? 0 : request.maxHolds);
    writer.integer(this.#counters.length);
    for (const { limit } of this.#counters) {
      const { algorithm, burst, windowStart, windowSize } = limit;
      writer.integer(kinds[algorithm.name]);
      writer.integer(limit.limit);
      writer.integer(burst);
      writer.integer(windowSize);
      writer.integer(algorithm.perWindow ? (windowStart + windowSize) * 1000 : 0);
      writer.integer(isDecision && limit.reservations !== true ? 0 : 1);
    }
    let at = 0;
    for (const { refuses, hits, limits } of request.groups) {
      writer.integer(refuses);
      writer.integer(hits);
      writer.integer(limits.length);
      for (let index = 0; index < limits.length; index++) writer.integer(this.#ofLimits[at++]!.number);
    }
  }

  /** Fills in the results. @throws {StoreError} for a key that holds something else, and for an unexpected reply */
  settle(reply: Reply): void {
    const counters = this.#counters;
    if (
      reply instanceof ErrorReply ||
      !Array.isArray(reply) ||
      reply.length !== 1 + WORDS_PER_COUNTER * counters.length ||
      !reply.every((word) => typeof word === "number")
    )
      throw new StoreError(
        "STORE_UNAVAILABLE",
        "the reply of the script for reservations has an unexpected format",
      );
    const words = reply as readonly number[];
    const now = words[0]!;
    for (const [index, { state, limit }] of counters.entries()) {
      const at = 1 + WORDS_PER_COUNTER * index;
      state.level = words[at]!;
      state.at = words[at + 1]!;
      state.previous = words[at + 2]!;
      if ((limit.algorithm.words > 1 ? state.at : state.level) === UNUSABLE)
        throw new StoreError("STORE_UNAVAILABLE", "the value of a key is not the state of a limit");
      state.held = words[at + 3]!;
      state.holds = words[at + 4]!;
      state.own = words[at + 5]!;
      state.isKnown = words[at + 6] === 1;
      state.isCommitted = words[at + 7] === 1;
      state.expired = words[at + 8]!;
    }
    const states = this.#ofLimits.map(({ state }) => state);
    const { request, isDecision } = this.#settled;
    const windowNow = request.now * MICROSECONDS;
    if (!isDecision) settleTogether(request, states, now, windowNow);
    else {
      for (const { limit, state } of counters) if (limit.reservations !== true) state.held = 0;
      acquireTogether(request, states, now, windowNow);
    }
  }
}

/** The number of a reservation in hexadecimal digits. */
function textOf(token: Token): string {
  let text = "";
  for (const part of token) text += (part >>> 0).toString(16).padStart(8, "0");
  return text;
}
