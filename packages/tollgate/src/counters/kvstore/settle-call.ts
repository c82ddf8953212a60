import { acquireTogether, keyOf, newCounterState } from "../acquire.ts";
import { type LedgerState, newLedgerState, type ReservedLimit, settleTogether } from "../reservations.ts";
import { StoreError } from "../store.ts";
import { type Ticket, unusableAnswer } from "../transport/ticket.ts";
import type { Settled } from "./acquire-step.ts";
import { writeLedgerKeys } from "./ledger-keys.ts";
import type { Reply } from "./resp/reader.ts";
import { Words } from "./resp/words.ts";
import type { CommandWriter } from "./resp/writer.ts";
import { ACQUIRE_STEP, KEYS_PER_COUNTER, WORDS_PER_COUNTER, WORDS_PER_QUOTA } from "./settle-script.ts";
import { kinds, UNUSABLE } from "./states-script.ts";

/** Steps of one call. While a script runs, its server answers nobody else. */
const MAX_STEPS = 64;
/** Quotas that are compared before a call lists a quota again. */
const COMPARED_WORDS = 8 * WORDS_PER_QUOTA;

/** The words of the argument that is being written, and of the reply that is being read. */
const asked = new Words();
const replied = new Words();

/** One caller's step. Calls reuse them. */
class CallStep {
  ticket: Ticket | null = null;
  settled: Settled | null = null;
  /** For each key, its first limit and the number of that limit's quota. */
  readonly limits: ReservedLimit[] = [];
  readonly quotasOfKeys: number[] = [];
  /** For each limit of the groups, the number of its key, from 0, and the number of its quota, from 1. */
  readonly keys: number[] = [];
  readonly quotas: number[] = [];
  /** For each of these limits, the state of its key. */
  readonly states: LedgerState[] = [];
  /** Memory for the states of the keys. */
  readonly memory: LedgerState[] = [];

  clear(): void {
    this.ticket = this.settled = null;
    this.limits.length = this.quotasOfKeys.length = 0;
    this.keys.length = this.quotas.length = this.states.length = 0;
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
  #counters = 0;

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
    this.#counters += step.limits.length;
    return true;
  }

  /** @param byKey the keys of the step, if it has several limits */
  #addLimit(step: CallStep, limit: ReservedLimit, byKey: Map<string, number> | undefined): void {
    const quota = this.#quotaOf(limit, !step.settled!.isDecision || limit.reservations === true);
    const name = byKey && keyOf(limit);
    let key = name === undefined ? undefined : byKey!.get(name);
    if (key === undefined) {
      key = step.limits.push(limit) - 1;
      step.quotasOfKeys.push(quota);
      step.memory[key] ??= newLedgerState(newCounterState());
      if (name !== undefined) byKey!.set(name, key);
    }
    step.keys.push(key);
    step.quotas.push(quota);
    step.states.push(step.memory[key]!);
  }

  /** @returns the number of a limit's quota, from 1 */
  #quotaOf({ algorithm, limit, burst, windowSize }: ReservedLimit, seesHolds: boolean): number {
    const quotas = this.#quotas;
    const kind = kinds[algorithm.name];
    const sees = seesHolds ? 1 : 0;
    const last = quotas.length - WORDS_PER_QUOTA;
    for (let at = last; at >= 0 && at > last - COMPARED_WORDS; at -= WORDS_PER_QUOTA)
      if (
        quotas[at] === kind &&
        quotas[at + 1] === limit &&
        quotas[at + 2] === burst &&
        quotas[at + 3] === windowSize &&
        quotas[at + 4] === sees
      )
        return at / WORDS_PER_QUOTA + 1;
    return quotas.push(kind, limit, burst, windowSize, sees) / WORDS_PER_QUOTA;
  }

  get keys(): number {
    return KEYS_PER_COUNTER * this.#counters;
  }

  /** Number of arguments of the script. */
  get args(): number {
    return 1 + this.#used;
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
    asked.clear();
    asked.push(now);
    asked.push(jitter);
    asked.push(this.#quotas.length / WORDS_PER_QUOTA);
    for (let at = 0; at < this.#quotas.length; at++) asked.push(this.#quotas[at]!);
    for (let index = 0; index < this.#used; index++) pushStep(asked, this.#steps[index]!);
    writer.words(asked);
    for (let index = 0; index < this.#used; index++) writeReservation(writer, this.#steps[index]!.settled!);
  }

  /** Fills in the results of all callers that still wait, and ends their waits. */
  settle(reply: Reply): void {
    const isExpected =
      typeof reply === "string" &&
      replied.read(reply) &&
      replied.length === 1 + WORDS_PER_COUNTER * this.#counters;
    let at = 1;
    for (let index = 0; index < this.#used; index++) {
      const step = this.#steps[index]!;
      const ticket = step.ticket!;
      if (!isExpected) ticket.fail(unexpectedReply());
      else if (!ticket.done)
        try {
          settleStep(step, replied, at);
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
    this.#used = this.#counters = this.#quotas.length = 0;
  }
}

/** The keys of a counter: its state, its holds, their ends, its commits. */
function writeKeys(writer: CommandWriter, limit: ReservedLimit, { isDecision, isCluster }: Settled): void {
  const { stem, algorithm, windowStart } = limit;
  if (algorithm.perWindow) writer.key(stem, windowStart);
  else writer.stem(stem);
  writeLedgerKeys(writer, limit, isDecision ? windowStart : limit.homeStart, isCluster);
}

function writeReservation(writer: CommandWriter, { request, isDecision }: Settled): void {
  if (isDecision || request.token === undefined) writer.text("");
  else writer.hexadecimal(request.token);
}

function pushStep(words: Words, { limits, quotasOfKeys, keys, quotas, settled }: CallStep): void {
  const { request, isDecision } = settled!;
  const { groups } = request;
  words.push(Math.floor(request.now));
  words.push(isDecision ? ACQUIRE_STEP : request.step);
  words.push(isDecision ? request.holdBack : 0);
  words.push(isDecision ? 0 : request.ttl);
  words.push(isDecision ? 0 : request.maxHolds);
  words.push(limits.length);
  words.push(groups.length);
  for (let key = 0; key < limits.length; key++) {
    const { algorithm, windowStart, windowSize } = limits[key]!;
    words.push(quotasOfKeys[key]!);
    words.push(algorithm.perWindow ? (windowStart + windowSize) * 1000 : 0);
  }
  let at = 0;
  for (let index = 0; index < groups.length; index++) {
    const { refuses, hits, limits } = groups[index]!;
    words.push(refuses);
    words.push(hits);
    words.push(limits.length);
    for (let each = 0; each < limits.length; each++) {
      words.push(keys[at]! + 1);
      words.push(quotas[at++]!);
    }
  }
}

/**
 * @param first position of the words of the step's first key
 * @throws {StoreError} for a key that holds something else
 */
function settleStep({ settled, limits, memory, states }: CallStep, words: Words, first: number) {
  const { request, isDecision } = settled!;
  for (let key = 0; key < limits.length; key++) {
    const state = memory[key]!;
    const { algorithm, reservations } = limits[key]!;
    const at = first + WORDS_PER_COUNTER * key;
    state.level = words.at(at);
    state.at = words.at(at + 1);
    state.previous = words.at(at + 2);
    if ((algorithm.words > 1 ? state.at : state.level) === UNUSABLE)
      throw new StoreError("STORE_UNAVAILABLE", "the value of a key is not the state of a limit");
    state.held = isDecision && reservations !== true ? 0 : words.at(at + 3);
    state.holds = words.at(at + 4);
    state.own = words.at(at + 5);
    state.isKnown = words.at(at + 6) === 1;
    state.isCommitted = words.at(at + 7) === 1;
    state.expired = words.at(at + 8);
  }
  const windowNow = request.now * MICROSECONDS;
  if (isDecision) acquireTogether(request, states, words.at(0), windowNow);
  else settleTogether(request, states, words.at(0), windowNow);
}

const MICROSECONDS = 1000;

function unexpectedReply(): StoreError {
  return new StoreError(
    "STORE_UNAVAILABLE",
    "the reply of the script for reservations has an unexpected format",
  );
}
