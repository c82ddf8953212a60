import { acquireTogether, newCounterState } from "../acquire.ts";
import { type LedgerState, newLedgerState, type ReservedLimit, settleTogether } from "../reservations.ts";
import { StoreError } from "../store.ts";
import { type Ticket, unusableAnswer } from "../transport/ticket.ts";
import type { Settled } from "./acquire-step.ts";
import { writeLedgerKeys } from "./ledger-keys.ts";
import { writeHexadecimal, writeWords } from "./resp/binary-arguments.ts";
import type { Reply } from "./resp/reply.ts";
import { Words } from "./resp/words.ts";
import type { CommandWriter } from "./resp/writer.ts";
import { ACQUIRE_STEP, KEYS_PER_COUNTER, WORDS_PER_COUNTER, WORDS_PER_QUOTA } from "./settle-script.ts";
import { kinds, UNUSABLE } from "./states-script.ts";
import { textOf } from "./stems.ts";

/** Steps of one call. While a script runs, its server answers nobody else. */
const MAX_STEPS = 64;
/** Quotas that are compared before a call lists a quota again. */
const COMPARED_WORDS = 8 * WORDS_PER_QUOTA;

/** The words of the argument that is being written, and of the reply that is being read. */
const asked = new Words();
const replied = new Words();

/** The states of the step that is being settled: one for each limit of its groups, in the memory of the keys. */
const states: LedgerState[] = [];
const memory: LedgerState[] = [];

/** One caller's step. Calls reuse them. */
class CallStep {
  ticket: Ticket | null = null;
  settled: Settled | null = null;
  /** The number of its keys. */
  size = 0;
  /** For each key, its first limit and the number of that limit's quota. */
  readonly limits: (ReservedLimit | null)[] = [];
  readonly quotasOfKeys: number[] = [];
  /** For each limit of the groups, the number of its key, from 0, and the number of its quota, from 1. */
  readonly keys: number[] = [];
  readonly quotas: number[] = [];

  /** To empty an array would release its memory. */
  clear(): void {
    this.ticket = this.settled = null;
    for (let key = 0; key < this.size; key++) this.limits[key] = null;
    this.size = 0;
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
    // The limits of one group have different keys.
    const byKey = groups.length === 1 ? undefined : new Map<string, number>();
    let at = 0;
    for (let index = 0; index < groups.length; index++) {
      const limits = groups[index]!.limits as readonly ReservedLimit[];
      for (let each = 0; each < limits.length; each++) this.#addLimit(step, at++, limits[each]!, byKey);
    }
    this.#counters += step.size;
    return true;
  }

  /**
   * @param at the number of the limit in its step, from 0
   * @param byKey the keys of the step, if it has several groups
   */
  #addLimit(step: CallStep, at: number, limit: ReservedLimit, byKey: Map<string, number> | undefined): void {
    const quota = this.#quotaOf(limit, !step.settled!.isDecision || limit.reservations === true);
    const name = byKey && textOf(limit) + (limit.algorithm.perWindow ? limit.windowStart : "");
    let key = name === undefined ? undefined : byKey!.get(name);
    if (key === undefined) {
      key = step.size++;
      step.limits[key] = limit;
      step.quotasOfKeys[key] = quota;
      if (name !== undefined) byKey!.set(name, key);
    }
    step.keys[at] = key;
    step.quotas[at] = quota;
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
      const { limits, size, settled } = this.#steps[index]!;
      for (let key = 0; key < size; key++) writeKeys(writer, limits[key]!, settled!);
    }
    asked.clear();
    asked.push(now);
    asked.push(jitter);
    asked.push(this.#quotas.length / WORDS_PER_QUOTA);
    for (let at = 0; at < this.#quotas.length; at++) asked.push(this.#quotas[at]!);
    for (let index = 0; index < this.#used; index++) pushStep(asked, this.#steps[index]!);
    writeWords(writer, asked);
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
      at += WORDS_PER_COUNTER * step.size;
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
  const { stem, place, algorithm, windowStart } = limit;
  if (algorithm.perWindow) writer.key(stem, windowStart, place);
  else writer.joined("", stem, "", place);
  writeLedgerKeys(writer, limit, isDecision ? windowStart : limit.homeStart, isCluster);
}

function writeReservation(writer: CommandWriter, { request, isDecision }: Settled): void {
  if (isDecision || request.token === undefined) writer.text("");
  else writeHexadecimal(writer, request.token);
}

function pushStep(words: Words, { size, limits, quotasOfKeys, keys, quotas, settled }: CallStep): void {
  const { request, isDecision } = settled!;
  const { groups } = request;
  words.push(Math.floor(request.now));
  words.push(isDecision ? ACQUIRE_STEP : request.step);
  words.push(isDecision ? request.holdBack : 0);
  words.push(isDecision ? 0 : request.ttl);
  words.push(isDecision ? 0 : request.maxHolds);
  words.push(size);
  words.push(groups.length);
  for (let key = 0; key < size; key++) {
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
function settleStep({ settled, size, limits, keys }: CallStep, words: Words, first: number) {
  const { request, isDecision } = settled!;
  for (let key = 0; key < size; key++) {
    const state = stateAt(key);
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
  let number = 0;
  for (let index = 0; index < request.groups.length; index++)
    for (let each = 0; each < request.groups[index]!.limits.length; each++, number++)
      states[number] = memory[keys[number]!]!;
  if (states.length !== number) states.length = number;
  const windowNow = request.now * MICROSECONDS;
  if (isDecision) acquireTogether(request, states, words.at(0), windowNow);
  else settleTogether(request, states, words.at(0), windowNow);
}

/** The memory for the state of a step's key. */
function stateAt(key: number): LedgerState {
  memory[key] ??= newLedgerState(newCounterState());
  return memory[key];
}

const MICROSECONDS = 1000;

function unexpectedReply(): StoreError {
  return new StoreError(
    "STORE_UNAVAILABLE",
    "the reply of the script for reservations has an unexpected format",
  );
}
