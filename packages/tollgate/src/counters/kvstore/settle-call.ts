import { acquireTogether, keyOf, newCounterState } from "../acquire.ts";
import { type LedgerState, newLedgerState, type ReservedLimit, settleTogether } from "../reservations.ts";
import { StoreError } from "../store.ts";
import { type Ticket, unusableAnswer } from "../transport/ticket.ts";
import type { Settled } from "./acquire-step.ts";
import { writeLedgerKeys } from "./ledger-keys.ts";
import type { Reply } from "./resp/reader.ts";
import type { CommandWriter } from "./resp/writer.ts";
import { ACQUIRE_STEP, KEYS_PER_COUNTER, SETTLE_ARGS, WORDS_PER_COUNTER } from "./settle-script.ts";
import { kinds, UNUSABLE } from "./states-script.ts";

/** Steps of one call. While a script runs, its server answers nobody else. */
const MAX_STEPS = 64;
/** Quotas that are compared before a call lists a quota again. */
const COMPARED_WORDS = 8 * SETTLE_ARGS.quota;

/** One caller's step. Calls reuse them. */
class CallStep {
  ticket: Ticket | null = null;
  settled: Settled | null = null;
  /** One for each key, with the numbers of their quotas. */
  readonly limits: ReservedLimit[] = [];
  readonly quotas: number[] = [];
  /** For each limit of the groups, the number of its key, from 0. */
  readonly keys: number[] = [];
  /** For each of these limits, the state of its key. */
  readonly states: LedgerState[] = [];
  /** Memory for the states of the keys. */
  readonly memory: LedgerState[] = [];

  clear(): void {
    this.ticket = this.settled = null;
    this.limits.length = this.quotas.length = this.keys.length = this.states.length = 0;
  }
}

/**
 * One call of the script for reservations, for the steps of several callers. They share the call and its quotas, no more:
 * the script settles one after the other. After the reply the call repeats each decision on the state that its step found.
 */
export class SettleCall {
  readonly #steps: CallStep[] = [];
  #used = 0;
  readonly #quotas: number[] = [];
  /** Number of keys and of arguments, without those of the quotas. */
  #counters = 0;
  #args = 0;

  /** Adds a step. @returns false if the call is full */
  add(settled: Settled, ticket: Ticket): boolean {
    if (this.#used === MAX_STEPS) return false;
    let step = this.#steps[this.#used];
    if (step === undefined) {
      step = new CallStep();
      this.#steps.push(step);
    }
    this.#used++;
    step.ticket = ticket;
    step.settled = settled;
    const { groups } = settled.request;
    const isAlone = groups.length === 1 && groups[0]!.limits.length === 1;
    const byKey = isAlone ? undefined : new Map<string, number>();
    for (let index = 0; index < groups.length; index++) {
      const limits = groups[index]!.limits as readonly ReservedLimit[];
      for (let each = 0; each < limits.length; each++) this.#addLimit(step, limits[each]!, byKey);
    }
    const { step: ofStep, counter, group, limit } = SETTLE_ARGS;
    this.#counters += step.limits.length;
    this.#args += ofStep + counter * step.limits.length + group * groups.length + limit * step.keys.length;
    return true;
  }

  /** @param byKey the keys of the step, if it has several limits */
  #addLimit(step: CallStep, limit: ReservedLimit, byKey: Map<string, number> | undefined): void {
    const name = byKey && keyOf(limit);
    let key = name === undefined ? undefined : byKey!.get(name);
    if (key === undefined) {
      key = step.limits.push(limit) - 1;
      step.quotas.push(this.#quotaOf(limit, !step.settled!.isDecision || limit.reservations === true));
      step.memory[key] ??= newLedgerState(newCounterState());
      if (name !== undefined) byKey!.set(name, key);
    }
    step.keys.push(key);
    step.states.push(step.memory[key]!);
  }

  /** @returns the number of a limit's quota, from 1 */
  #quotaOf({ algorithm, limit, burst, windowSize }: ReservedLimit, seesHolds: boolean): number {
    const quotas = this.#quotas;
    const kind = kinds[algorithm.name];
    const sees = seesHolds ? 1 : 0;
    const { quota } = SETTLE_ARGS;
    const last = quotas.length - quota;
    for (let at = last; at >= 0 && at > last - COMPARED_WORDS; at -= quota)
      if (
        quotas[at] === kind &&
        quotas[at + 1] === limit &&
        quotas[at + 2] === burst &&
        quotas[at + 3] === windowSize &&
        quotas[at + 4] === sees
      )
        return at / quota + 1;
    return quotas.push(kind, limit, burst, windowSize, sees) / quota;
  }

  get keys(): number {
    return KEYS_PER_COUNTER * this.#counters;
  }

  /** Number of arguments of the script. */
  get args(): number {
    return SETTLE_ARGS.first + this.#quotas.length + this.#args;
  }

  /**
   * @param now microseconds since the epoch; 0 for the server's clock
   * @param jitter seconds that a key outlives its state
   */
  write(writer: CommandWriter, now: number, jitter: number): void {
    for (let index = 0; index < this.#used; index++) {
      const { limits, settled } = this.#steps[index]!;
      for (let key = 0; key < limits.length; key++) writeKeys(writer, limits[key]!, settled!);
    }
    writer.integer(now);
    writer.integer(jitter);
    writer.integer(this.#quotas.length / SETTLE_ARGS.quota);
    for (let at = 0; at < this.#quotas.length; at++) writer.integer(this.#quotas[at]!);
    for (let index = 0; index < this.#used; index++) writeStep(writer, this.#steps[index]!);
  }

  /** Fills in the results of all callers that still wait, and ends their waits. */
  settle(reply: Reply): void {
    const isExpected = isWords(reply, 1 + WORDS_PER_COUNTER * this.#counters);
    let at = 1;
    for (let index = 0; index < this.#used; index++) {
      const step = this.#steps[index]!;
      const ticket = step.ticket!;
      if (!isExpected) ticket.fail(unexpectedReply());
      else if (!ticket.done)
        try {
          settleStep(step, reply, at);
          ticket.answered();
        } catch (cause) {
          // A fault in one caller's answer must not block the other callers.
          ticket.fail(cause instanceof StoreError ? cause : unusableAnswer(cause));
        }
      at += WORDS_PER_COUNTER * step.limits.length;
    }
  }

  /** Forgets the callers and their keys. */
  clear(): void {
    for (let index = 0; index < this.#used; index++) this.#steps[index]!.clear();
    this.#used = this.#counters = this.#args = this.#quotas.length = 0;
  }
}

/** The keys of a counter: its state, its holds, their ends, its commits. */
function writeKeys(writer: CommandWriter, limit: ReservedLimit, { isDecision, isCluster }: Settled): void {
  const { stem, algorithm, windowStart } = limit;
  if (algorithm.perWindow) writer.key(stem, windowStart);
  else writer.stem(stem);
  writeLedgerKeys(writer, limit, isDecision ? windowStart : limit.homeStart, isCluster);
}

function writeStep(writer: CommandWriter, { limits, quotas, keys, settled }: CallStep): void {
  const { request, isDecision } = settled!;
  const { groups } = request;
  writer.integer(Math.floor(request.now));
  writer.integer(isDecision ? ACQUIRE_STEP : request.step);
  writer.integer(isDecision ? request.holdBack : 0);
  if (isDecision || request.token === undefined) writer.text("");
  else writer.hexadecimal(request.token);
  writer.integer(isDecision ? 0 : request.ttl);
  writer.integer(isDecision ? 0 : request.maxHolds);
  writer.integer(limits.length);
  writer.integer(groups.length);
  for (let key = 0; key < limits.length; key++) {
    const { algorithm, windowStart, windowSize } = limits[key]!;
    writer.integer(quotas[key]!);
    writer.integer(algorithm.perWindow ? (windowStart + windowSize) * 1000 : 0);
  }
  let at = 0;
  for (let index = 0; index < groups.length; index++) {
    const { refuses, hits, limits } = groups[index]!;
    writer.integer(refuses);
    writer.integer(hits);
    writer.integer(limits.length);
    for (let each = 0; each < limits.length; each++) writer.integer(keys[at++]! + 1);
  }
}

/**
 * @param first position of the words of the step's first key
 * @throws {StoreError} for a key that holds something else
 */
function settleStep({ settled, limits, memory, states }: CallStep, words: readonly number[], first: number) {
  const { request, isDecision } = settled!;
  for (let key = 0; key < limits.length; key++) {
    const state = memory[key]!;
    const { algorithm, reservations } = limits[key]!;
    const at = first + WORDS_PER_COUNTER * key;
    state.level = words[at]!;
    state.at = words[at + 1]!;
    state.previous = words[at + 2]!;
    if ((algorithm.words > 1 ? state.at : state.level) === UNUSABLE)
      throw new StoreError("STORE_UNAVAILABLE", "the value of a key is not the state of a limit");
    state.held = isDecision && reservations !== true ? 0 : words[at + 3]!;
    state.holds = words[at + 4]!;
    state.own = words[at + 5]!;
    state.isKnown = words[at + 6] === 1;
    state.isCommitted = words[at + 7] === 1;
    state.expired = words[at + 8]!;
  }
  const windowNow = request.now * MICROSECONDS;
  if (isDecision) acquireTogether(request, states, words[0]!, windowNow);
  else settleTogether(request, states, words[0]!, windowNow);
}

const MICROSECONDS = 1000;

function isWords(reply: Reply, length: number): reply is readonly number[] {
  if (!Array.isArray(reply) || reply.length !== length) return false;
  for (let at = 0; at < length; at++) if (typeof reply[at] !== "number") return false;
  return true;
}

function unexpectedReply(): StoreError {
  return new StoreError(
    "STORE_UNAVAILABLE",
    "the reply of the script for reservations has an unexpected format",
  );
}
