import { acquireAlone, acquireList, acquireTogether } from "../acquire.ts";
import { holdBackOf } from "../hold-back.ts";
import { type AcquireGroup, type AcquireLimit, HoldBack, Outcome, Refuses, StoreError } from "../store.ts";
import { type Ticket, unusableAnswer } from "../transport/ticket.ts";
import { AcquireCounters, type Counter, type KnownQuota, UNEXPECTED_REPLY } from "./acquire-counters.ts";
import { ACQUIRE_ARGS } from "./acquire-script.ts";
import type { AcquireStep } from "./acquire-step.ts";
import type { Reply } from "./resp/reader.ts";
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
  /** The counters of several limits. */
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

/**
 * One call of the script, for the steps of any number of callers. Equal keys are one key, and equal hits of one key are
 * one argument. After the reply the call repeats the script's decisions with the algorithms, in the same order and on
 * the same states, and so fills in the results of every caller.
 */
export class AcquireCall {
  readonly #counters = new AcquireCounters();
  readonly #args: number[] = [];
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
    const counters = this.#found;
    counters.length = 0;
    for (const { limits } of groups)
      for (const limit of limits) {
        const counter = this.#counters.counterOf(limit, step);
        if (counter === undefined) return false;
        counters.push(counter);
      }
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
    const args = this.#args;
    const { timesAt } = counter;
    if (timesAt >= 0 && counter.runSize === 1 && args[timesAt - 1] === hits) args[timesAt]!++;
    else {
      counter.timesAt = args.push(counter.number, hits, 1) - 1;
      counter.runSize = 1;
    }
    const decision = this.#nextDecision(step, ticket, isLast);
    decision.group = group;
    decision.hits = hits;
    decision.counter = counter;
  }

  /** @param from of the group's counters in `#found` */
  #addList(step: AcquireStep, ticket: Ticket, group: AcquireGroup, from: number, isLast: boolean): void {
    const { hits, limits } = group;
    const args = this.#args;
    const { length } = limits;
    const decision = this.#nextDecision(step, ticket, isLast);
    const { counters } = decision;
    const { timesAt } = this.#found[from]!;
    let isRun = timesAt >= 0 && args[timesAt - 1] === hits;
    for (let index = 0; index < length; index++) {
      const counter = this.#found[from + index]!;
      counters.push(counter);
      // As many distinct counters as the run has, and all of them in it.
      if (counter.timesAt !== timesAt || counter.runSize !== length) isRun = false;
    }
    if (isRun) args[timesAt]!++;
    else {
      const at = args.push(-length, hits, 1) - 1;
      for (let index = 0; index < length; index++) {
        const counter = counters[index]!;
        args.push(counter.number);
        counter.timesAt = at;
        counter.runSize = length;
      }
    }
    decision.group = group;
    decision.hits = hits;
  }

  #addTogether(step: AcquireStep, ticket: Ticket, together: Together): void {
    const { groups, holdBack, counters } = together;
    const args = this.#args;
    args.push(0, holdBack, groups.length);
    let at = 0;
    for (const { refuses, hits, limits } of groups) {
      args.push(refuses, hits, limits.length);
      for (const limit of limits) {
        const counter = counters[at++]!;
        args.push(counter.number, this.#counters.quotaOf(limit).number);
        counter.timesAt = -1;
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

  /** Number of arguments of the script. */
  get args(): number {
    const { size, quotas } = this.#counters;
    return ACQUIRE_ARGS.first + quotas.length * ACQUIRE_ARGS.quota + size + this.#args.length;
  }

  /**
   * Writes the keys and the arguments of the script.
   * @param now microseconds since the epoch; 0 for the server's clock
   * @param jitter seconds that a key outlives its state
   */
  write(writer: CommandWriter, now: number, jitter: number): void {
    const counters = this.#counters;
    for (let i = 0; i < counters.size; i++) {
      const { stem, windowStart, quota } = counters.at(i);
      if (quota.algorithm.perWindow) writer.key(stem, windowStart);
      else writer.stem(stem);
    }
    writer.integer(now);
    writer.integer(jitter);
    writer.integer(counters.quotas.length);
    for (const { algorithm, limit, burst, windowSize } of counters.quotas) {
      writer.integer(kinds[algorithm.name]);
      writer.integer(limit);
      writer.integer(burst);
      writer.integer(windowSize);
    }
    for (let i = 0; i < counters.size; i++) writer.integer(counters.at(i).quota.number);
    for (let i = 0; i < this.#args.length; i++) writer.integer(this.#args[i]!);
  }

  /** Fills in the results of all callers, and ends their waits. */
  settle(reply: Reply): void {
    try {
      if (!Array.isArray(reply) || typeof reply[0] !== "number") throw new Error(UNEXPECTED_REPLY);
      this.#counters.read(reply);
      for (let i = 0; i < this.#decided; i++) settleOne(this.#decisions[i]!, reply[0]);
    } catch (cause) {
      for (let i = 0; i < this.#decided; i++) this.#decisions[i]!.ticket!.fail(unusableAnswer(cause));
    }
  }

  /** Forgets the callers and their keys. */
  clear(): void {
    this.#counters.clear();
    this.#args.length = this.#found.length = 0;
    for (let i = 0; i < this.#decided; i++) {
      const decision = this.#decisions[i]!;
      decision.ticket = decision.group = decision.counter = decision.together = null;
      if (decision.counters.length > 0) decision.counters.length = 0;
    }
    this.#decided = 0;
  }
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
