import { acquireAlone, acquireList, acquireTogether } from "../acquire.ts";
import { holdBackOf } from "../hold-back.ts";
import { type AcquireGroup, type AcquireLimit, HoldBack, Outcome, Refuses, StoreError } from "../store.ts";
import { type Ticket, unusableAnswer } from "../transport/ticket.ts";
import { AcquireCounters, type Counter, type KnownQuota, UNEXPECTED_REPLY } from "./acquire-counters.ts";
import type { AcquireStep } from "./acquire-step.ts";
import { writeWords } from "./resp/binary-arguments.ts";
import type { Reply } from "./resp/reply.ts";
import { Words } from "./resp/words.ts";
import type { CommandWriter } from "./resp/writer.ts";
import { kinds } from "./states-script.ts";

/** One decision of a call, for one caller. Calls reuse them: new ones take a tenth of the CPU of a decision. */
class Decision {
  ticket: Ticket | null = null;
  /** The request's instant, in microseconds. */
  now = 0;
  /** Whether it is the last decision of its step. */
  isLast = true;
  /** A group that nothing holds back, and whose limits share no counter with another group of its request. */
  group: AcquireGroup | null = null;
  hits = 0;
  /** The counter of its only limit. */
  counter: Counter | null = null;
  /** The counters of several limits. The decisions of later calls reuse its memory. */
  readonly counters: Counter[] = [];
  /** All other groups. */
  together: Together | null = null;
}

/** Groups that are decided together. The copies keep their hits if the caller reuses its groups after its deadline. */
interface Together {
  readonly groups: readonly AcquireGroup[];
  readonly copies: readonly AcquireGroup[];
  readonly holdBack: HoldBack;
  /** One for each limit. */
  readonly counters: readonly Counter[];
}

/** For the replies of all calls. A call settles in one go. */
const replied = new Words();

/**
 * One call of the script, for the steps of any number of callers. Equal keys are one key, and equal hits of one key are
 * one run or step of the script. After the reply the call repeats the script's decisions with the algorithms, in the same order and on
 * the same states, and so fills in the results of every caller.
 */
export class AcquireCall {
  readonly #counters = new AcquireCounters();
  /** Parts of the script's argument (`acquire-script.ts`). */
  readonly #head = new Words();
  readonly #runs = new Words();
  readonly #steps = new Words();
  /** Counters that are in a run. */
  #inRuns = 0;
  readonly #decisions: Decision[] = [];
  /** The counters of the step that is being added. */
  readonly #found: Counter[] = [];
  #decided = 0;

  /**
   * Adds a step.
   * @returns false if it needs another call: this one uses a counter with another quota
   */
  add(step: AcquireStep, ticket: Ticket): boolean {
    const { groups, holdBack } = step;
    const isFree = holdBackOf(groups, holdBack) === HoldBack.NEVER;
    if (isFree && groups.length === 1 && groups[0]!.limits.length === 1) {
      const counter = this.#counters.counterOf(groups[0]!.limits[0]!, step);
      if (counter === undefined) return false;
      this.#addAlone(step, ticket, groups[0]!, counter, true);
      return true;
    }
    if (!this.#find(step)) {
      this.#readRest();
      return false;
    }
    const counters = this.#found;
    if (isFree && areDistinct(counters)) this.#addEach(step, ticket);
    else
      this.#addTogether(step, ticket, {
        groups,
        holdBack,
        counters: [...counters],
        copies: groups.map(copyOf),
      });
    return true;
  }

  /** Finds the counters of a step's limits. @returns false if the step needs another call */
  #find(step: AcquireStep): boolean {
    const { groups } = step;
    const found = this.#found;
    let number = 0;
    for (let i = 0; i < groups.length; i++) {
      const { limits } = groups[i]!;
      for (let j = 0; j < limits.length; j++) {
        const counter = this.#counters.counterOf(limits[j]!, step);
        if (counter === undefined) return false;
        found[number++] = counter;
      }
    }
    // To empty an array would release its memory.
    if (found.length !== number) found.length = number;
    return true;
  }

  /** Groups that share no counter, and that nothing holds back. */
  #addEach(step: AcquireStep, ticket: Ticket): void {
    let at = 0;
    for (let index = 0; index < step.groups.length; index++) {
      const group = step.groups[index]!;
      const isLast = index === step.groups.length - 1;
      const { length } = group.limits;
      if (length === 1) this.#addAlone(step, ticket, group, this.#found[at]!, isLast);
      else this.#addList(step, ticket, group, at, isLast);
      at += length;
    }
  }

  #addAlone(step: AcquireStep, ticket: Ticket, group: AcquireGroup, counter: Counter, isLast: boolean): void {
    const { hits } = group;
    const { words, timesAt } = counter;
    if (words !== null && counter.length === 1 && words.at(timesAt - 1) === hits) words.increment(timesAt);
    else if (counter.number > this.#inRuns) this.#run(counter, hits, 1);
    else {
      this.#steps.push(counter.number);
      this.#steps.push(hits);
      use(counter, this.#steps, 1, this.#steps.push(1));
    }
    const decision = this.#nextDecision(step, ticket, isLast);
    decision.group = group;
    decision.hits = hits;
    decision.counter = counter;
  }

  /** Adds the first groups of the next counter. */
  #run(counter: Counter, hits: number, times: number): void {
    const runs = this.#runs;
    runs.push(1);
    runs.push(hits);
    const timesAt = runs.push(times);
    runs.push(counter.quota.number);
    if (times > 0) use(counter, runs, 1, timesAt);
    this.#inRuns++;
  }

  /** The other counters have no groups of the same kind first. The script only reads them, for its steps. */
  #readRest(): void {
    while (this.#inRuns < this.#counters.size) this.#run(this.#counters.at(this.#inRuns), 0, 0);
  }

  /** @param from of the group's counters in `#found` */
  #addList(step: AcquireStep, ticket: Ticket, group: AcquireGroup, from: number, isLast: boolean): void {
    const { hits, limits } = group;
    const { length } = limits;
    const decision = this.#nextDecision(step, ticket, isLast);
    const { counters } = decision;
    if (counters.length !== length) counters.length = length;
    const { words, timesAt } = this.#found[from]!;
    let isEqual = words !== null && words.at(timesAt - 1) === hits;
    for (let index = 0; index < length; index++) {
      const counter = this.#found[from + index]!;
      counters[index] = counter;
      // As many distinct counters as the equal groups have, and all of them in these groups.
      if (counter.words !== words || counter.timesAt !== timesAt || counter.length !== length)
        isEqual = false;
    }
    if (isEqual) words!.increment(timesAt);
    else if (this.#areNext(counters)) this.#runOfList(counters, hits);
    else {
      for (let index = 0; index < length; index++)
        if (counters[index]!.number > this.#inRuns) this.#run(counters[index]!, 0, 0);
      this.#stepOfList(counters, hits);
    }
    decision.group = group;
    decision.hits = hits;
  }

  /** Whether distinct counters are the next ones, and so in the order of their numbers. */
  #areNext(counters: readonly Counter[]): boolean {
    const first = this.#inRuns + 1;
    const last = this.#inRuns + counters.length;
    return counters[0]!.number === first && counters.at(-1)!.number === last;
  }

  #runOfList(counters: readonly Counter[], hits: number): void {
    const runs = this.#runs;
    const { length } = counters;
    runs.push(length);
    runs.push(hits);
    const timesAt = runs.push(1);
    for (let index = 0; index < length; index++) {
      runs.push(counters[index]!.quota.number);
      use(counters[index]!, runs, length, timesAt);
    }
    this.#inRuns += length;
  }

  #stepOfList(counters: readonly Counter[], hits: number): void {
    const steps = this.#steps;
    const { length } = counters;
    steps.push(-length);
    steps.push(hits);
    const timesAt = steps.push(1);
    for (let index = 0; index < length; index++) {
      steps.push(counters[index]!.number);
      use(counters[index]!, steps, length, timesAt);
    }
  }

  #addTogether(step: AcquireStep, ticket: Ticket, together: Together): void {
    const { groups, holdBack, counters } = together;
    const steps = this.#steps;
    this.#readRest();
    for (const word of [0, holdBack, groups.length]) steps.push(word);
    let at = 0;
    for (const { refuses, hits, limits } of groups) {
      for (const word of [refuses, hits, limits.length]) steps.push(word);
      for (const limit of limits) {
        const counter = counters[at++]!;
        steps.push(counter.number);
        steps.push(this.#counters.quotaOf(limit).number);
        counter.words = null;
      }
    }
    this.#nextDecision(step, ticket, true).together = together;
  }

  #nextDecision(step: AcquireStep, ticket: Ticket, isLast: boolean): Decision {
    let decision = this.#decisions[this.#decided++];
    if (decision === undefined) {
      decision = new Decision();
      this.#decisions.push(decision);
    }
    decision.ticket = ticket;
    decision.now = step.now * 1000;
    decision.isLast = isLast;
    return decision;
  }

  get keys(): number {
    return this.#counters.size;
  }

  /** The size of the script's argument, without the quotas. */
  get words(): number {
    return this.#runs.length + this.#steps.length;
  }

  /**
   * Writes the keys and the argument of the script.
   * @param now microseconds since the epoch; 0 for the server's clock
   * @param jitter seconds that a key outlives its state
   */
  write(writer: CommandWriter, now: number, jitter: number): void {
    const counters = this.#counters;
    for (let i = 0; i < counters.size; i++) {
      const { stem, windowStart, quota, place } = counters.at(i);
      writer.joined("", stem, quota.algorithm.perWindow ? String(windowStart) : "", place);
    }
    const head = this.#head;
    head.clear();
    for (const word of [now, jitter, counters.quotas.length]) head.push(word);
    for (const { algorithm, limit, burst, windowSize } of counters.quotas)
      for (const word of [kinds[algorithm.name], limit, burst, windowSize]) head.push(word);
    head.push(this.#steps.length > 0 ? 1 : 0);
    writeWords(writer, head, this.#runs, this.#steps);
  }

  /** Fills in the results of all callers, and ends their waits. */
  settle(reply: Reply): void {
    try {
      if (typeof reply !== "string" || !replied.read(reply)) throw new Error(UNEXPECTED_REPLY);
      this.#counters.read(replied);
      const storeNow = replied.at(0);
      for (let i = 0; i < this.#decided; i++) settleOne(this.#decisions[i]!, storeNow);
    } catch (cause) {
      for (let i = 0; i < this.#decided; i++) this.#decisions[i]!.ticket!.fail(unusableAnswer(cause));
    }
  }

  /** Forgets the callers and their keys. */
  clear(): void {
    this.#counters.clear();
    for (const words of [this.#head, this.#runs, this.#steps]) words.clear();
    this.#inRuns = 0;
    for (let i = 0; i < this.#decided; i++) {
      const decision = this.#decisions[i]!;
      decision.ticket = decision.group = decision.counter = decision.together = null;
    }
    this.#decided = 0;
  }
}

/** Notes the last equal groups of a counter. */
function use(counter: Counter, words: Words, length: number, timesAt: number): void {
  counter.words = words;
  counter.length = length;
  counter.timesAt = timesAt;
}

/** @param storeNow the store's instant, in microseconds */
function settleOne(decision: Decision, storeNow: number): void {
  const { isLast, together, counter, now } = decision;
  const ticket = decision.ticket!;
  try {
    const isUsable =
      counter !== null
        ? decideAlone(decision, counter, ticket.done, storeNow)
        : together === null
          ? decideList(decision, ticket.done, storeNow)
          : decideTogether(ticket, together, storeNow, now);
    if (!isUsable)
      ticket.fail(new StoreError("STORE_UNAVAILABLE", "the value of a key is not the state of a limit"));
    else if (isLast) ticket.answered();
  } catch (cause) {
    // A fault in one caller's answer must not block the other callers.
    ticket.fail(unusableAnswer(cause));
  }
}

/** @returns false if the key holds no state */
function decideAlone(
  { group, hits, now }: Decision,
  { state, quota, unusable }: Counter,
  isDone: boolean,
  storeNow: number,
): boolean {
  if (unusable) return false;
  const limit = isDone ? unreported(quota) : group!.limits[0]!;
  const own = isDone
    ? { limits: [limit], hits, refuses: Refuses.NEVER, outcome: Outcome.COUNTED, accepted: true }
    : group!;
  acquireAlone(own, limit, state, quota.algorithm.perWindow ? now : storeNow);
  return true;
}

/** @returns false if a key holds no state */
function decideList({ group, hits, counters, now }: Decision, isDone: boolean, storeNow: number): boolean {
  for (let index = 0; index < counters.length; index++) if (counters[index]!.unusable) return false;
  acquireList(counters, hits, isDone ? undefined : group!, storeNow, now);
  return true;
}

/** A limit for the hits of a caller that no longer waits. */
function unreported(quota: KnownQuota): AcquireLimit {
  return { ...quota, stem: "", accepted: true, used: 0, remaining: 0, reset: 1 };
}

/** @returns false if a key holds no state */
function decideTogether(
  { done }: Ticket,
  { groups, copies, holdBack, counters }: Together,
  storeNow: number,
  windowNow: number,
): boolean {
  for (const { unusable } of counters) if (unusable) return false;
  const states = counters.map(({ state }) => state);
  acquireTogether({ groups: copies, holdBack }, states, storeNow, windowNow);
  if (done) return true;
  for (const [i, { outcome, accepted, limits }] of copies.entries()) {
    const group = groups[i]!;
    group.outcome = outcome;
    group.accepted = accepted;
    for (const [j, { accepted, used, remaining, reset }] of limits.entries())
      Object.assign(group.limits[j]!, { accepted, used, remaining, reset });
  }
  return true;
}

function copyOf(group: AcquireGroup): AcquireGroup {
  return { ...group, limits: group.limits.map((limit) => ({ ...limit })) };
}

/** Lists have at most eight limits, and requests few groups. */
function areDistinct(counters: readonly Counter[]): boolean {
  if (counters.length > MAX_COMPARED) return new Set(counters).size === counters.length;
  for (let index = 1; index < counters.length; index++)
    if (counters.indexOf(counters[index]!) < index) return false;
  return true;
}

const MAX_COMPARED = 16;
