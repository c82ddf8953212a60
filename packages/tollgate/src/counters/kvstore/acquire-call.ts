import { acquireTogether, type CounterState, newCounterState } from "../acquire.ts";
import type { Algorithm, Quota } from "../algorithms/algorithm.ts";
import { holdBackOf } from "../hold-back.ts";
import { type AcquireGroup, type AcquireLimit, HoldBack, Outcome, StoreError } from "../store.ts";
import { type Ticket, unusableAnswer } from "../transport/ticket.ts";
import { ACQUIRE_ARGS, kinds, UNUSABLE } from "./acquire-script.ts";
import type { AcquireStep } from "./acquire-step.ts";
import type { Reply } from "./resp/reader.ts";
import type { CommandWriter } from "./resp/writer.ts";

/** The constants of a limit without its window. Calls refer to them by number. */
interface KnownQuota extends Quota {
  readonly algorithm: Algorithm;
  readonly number: number;
}

/** One key of a call. */
interface Counter {
  stem: string;
  windowStart: number;
  number: number;
  quota: KnownQuota;
  /** The last step that uses it. */
  step: AcquireStep | null;
  /** Position of `times` in the arguments of the last run of equal hits; -1 if another step followed. */
  timesAt: number;
  hits: number;
  /** From the reply. */
  readonly state: CounterState;
  unusable: boolean;
}

/** One decision of a call, for one caller. */
interface Decision {
  readonly ticket: Ticket;
  readonly now: number;
  /** A group with one limit, which nothing holds back. */
  readonly single: AcquireGroup | null;
  readonly hits: number;
  readonly counter: Counter | null;
  /** Otherwise copies of the groups: the callers may reuse theirs after their deadlines. */
  readonly copies: readonly AcquireGroup[];
  readonly groups: readonly AcquireGroup[];
  readonly holdBack: HoldBack;
  readonly counters: readonly Counter[];
  /** Whether it is the last decision of its step. */
  readonly isLast: boolean;
}

const UNEXPECTED_REPLY = "the reply of the script for limits has an unexpected format";

/** Quotas that are compared before a call lists a quota again. A batch rarely has more rules. */
const COMPARED_QUOTAS = 8;

/**
 * One call of the script, for the steps of any number of callers. Equal keys are one key, and equal hits of one key are
 * one argument. After the reply the call repeats the script's decisions with the algorithms, in the same order and on
 * the same states, and so fills in the results of every caller.
 */
export class AcquireCall {
  readonly #counters: Counter[] = [];
  #used = 0;
  readonly #byKey = new Map<string, Counter>();
  readonly #quotas: KnownQuota[] = [];
  readonly #args: number[] = [];
  readonly #decisions: Decision[] = [];

  /**
   * Adds a step.
   * @returns false if it needs a call of its own: it has another quota for a counter of this call
   */
  add(step: AcquireStep, ticket: Ticket): boolean {
    const { groups, holdBack } = step;
    const [first] = groups;
    if (
      groups.length === 1 &&
      first!.limits.length === 1 &&
      holdBackOf(groups, holdBack) === HoldBack.NEVER
    ) {
      const counter = this.#counterOf(first!.limits[0]!, step);
      if (counter === undefined) return false;
      this.#addSingle(step, ticket, first!, counter, true);
      return true;
    }
    return this.#addGroups(step, ticket);
  }

  #addGroups(step: AcquireStep, ticket: Ticket): boolean {
    const { groups, holdBack } = step;
    const counters: Counter[] = [];
    for (const { limits } of groups)
      for (const limit of limits) {
        const counter = this.#counterOf(limit, step);
        if (counter === undefined) return false;
        counters.push(counter);
      }
    const areDistinct = new Set(counters).size === counters.length;
    if (areDistinct && holdBackOf(groups, holdBack) === HoldBack.NEVER) {
      let at = 0;
      groups.forEach((group, index) => {
        const isLast = index === groups.length - 1;
        const own = counters.slice(at, at + group.limits.length);
        at += own.length;
        if (own.length === 1) this.#addSingle(step, ticket, group, own[0]!, isLast);
        else this.#addTogether(step, ticket, HoldBack.NEVER, [group], own, isLast);
      });
    } else this.#addTogether(step, ticket, holdBack, groups, counters, true);
    return true;
  }

  #addSingle(
    step: AcquireStep,
    ticket: Ticket,
    group: AcquireGroup,
    counter: Counter,
    isLast: boolean,
  ): void {
    const { hits } = group;
    if (counter.timesAt >= 0 && counter.hits === hits) this.#args[counter.timesAt]!++;
    else {
      this.#args.push(counter.number, hits, 1);
      counter.timesAt = this.#args.length - 1;
      counter.hits = hits;
    }
    this.#decisions.push({
      ticket,
      now: step.now,
      single: group,
      hits,
      counter,
      copies: [],
      groups: [],
      holdBack: HoldBack.NEVER,
      counters: [],
      isLast,
    });
  }

  #addTogether(
    { now }: AcquireStep,
    ticket: Ticket,
    holdBack: HoldBack,
    groups: readonly AcquireGroup[],
    counters: readonly Counter[],
    isLast: boolean,
  ): void {
    const args = this.#args;
    args.push(0, holdBack, groups.length);
    let at = 0;
    for (const { refuses, hits, limits } of groups) {
      args.push(refuses, hits, limits.length);
      for (const limit of limits) {
        const counter = counters[at++]!;
        args.push(counter.number, this.#quotaOf(limit).number);
        counter.timesAt = -1;
      }
    }
    const copies = groups.map((group) => ({ ...group, limits: group.limits.map((limit) => ({ ...limit })) }));
    this.#decisions.push({
      ticket,
      now,
      single: null,
      hits: 0,
      counter: null,
      copies,
      groups,
      holdBack,
      counters,
      isLast,
    });
  }

  /** The counter of a limit; undefined if it is known with another quota, which an earlier step used. */
  #counterOf(limit: AcquireLimit, step: AcquireStep): Counter | undefined {
    const { stem, algorithm, windowStart } = limit;
    let counter = this.#byKey.get(stem);
    let key = stem;
    if (counter !== undefined && algorithm.perWindow && counter.windowStart !== windowStart) {
      // The batch has two windows of one limit.
      key = stem + windowStart;
      counter = this.#byKey.get(key);
    }
    if (counter !== undefined) {
      if (counter.step !== step && !isSame(counter.quota, limit)) return undefined;
      counter.step = step;
      return counter;
    }
    counter = this.#nextCounter(this.#quotaOf(limit));
    counter.step = step;
    counter.stem = stem;
    counter.windowStart = algorithm.perWindow ? windowStart : 0;
    this.#byKey.set(key, counter);
    return counter;
  }

  #nextCounter(quota: KnownQuota): Counter {
    let counter = this.#counters[this.#used++];
    if (counter === undefined) {
      counter = {
        stem: "",
        windowStart: 0,
        number: this.#used,
        quota,
        step: null,
        timesAt: -1,
        hits: 0,
        state: newCounterState(),
        unusable: false,
      };
      this.#counters.push(counter);
    }
    counter.quota = quota;
    counter.timesAt = -1;
    return counter;
  }

  #quotaOf(limit: AcquireLimit): KnownQuota {
    const quotas = this.#quotas;
    const { length } = quotas;
    for (let i = length - 1; i >= 0 && i >= length - COMPARED_QUOTAS; i--)
      if (isSame(quotas[i]!, limit)) return quotas[i]!;
    const { algorithm, burst, windowSize } = limit;
    const quota = { algorithm, limit: limit.limit, burst, windowSize, windowStart: 0, number: length + 1 };
    quotas.push(quota);
    return quota;
  }

  get keys(): number {
    return this.#used;
  }

  /** Number of arguments of the script. */
  get args(): number {
    return ACQUIRE_ARGS.first + this.#quotas.length * ACQUIRE_ARGS.quota + this.#used + this.#args.length;
  }

  /**
   * Writes the keys and the arguments of the script.
   * @param now microseconds since the epoch; 0 for the server's clock
   * @param jitter seconds that a key outlives its state
   */
  write(writer: CommandWriter, now: number, jitter: number): void {
    for (let i = 0; i < this.#used; i++) {
      const { stem, windowStart, quota } = this.#counters[i]!;
      if (quota.algorithm.perWindow) writer.key(stem, windowStart);
      else writer.stem(stem);
    }
    writer.integer(now);
    writer.integer(jitter);
    writer.integer(this.#quotas.length);
    for (const { algorithm, limit, burst, windowSize } of this.#quotas) {
      writer.integer(kinds[algorithm.name]);
      writer.integer(limit);
      writer.integer(burst);
      writer.integer(windowSize);
    }
    for (let i = 0; i < this.#used; i++) writer.integer(this.#counters[i]!.quota.number);
    for (let i = 0; i < this.#args.length; i++) writer.integer(this.#args[i]!);
  }

  /** Fills in the results of all callers, and ends their waits. */
  settle(reply: Reply): void {
    let now: number;
    try {
      now = this.#readStates(reply);
    } catch (cause) {
      for (const { ticket } of this.#decisions) ticket.fail(unusableAnswer(cause));
      return;
    }
    for (const decision of this.#decisions) {
      const { ticket } = decision;
      try {
        const usable = decision.single === null ? decideTogether(decision, now) : decideSingle(decision, now);
        if (!usable)
          ticket.fail(new StoreError("STORE_UNAVAILABLE", "the value of a key is not the state of a limit"));
        else if (decision.isLast) ticket.answered();
      } catch (cause) {
        // A fault in one caller's answer must not block the other callers.
        ticket.fail(unusableAnswer(cause));
      }
    }
  }

  /** @returns the store's instant @throws {Error} for the reply of another script */
  #readStates(reply: Reply): number {
    if (!Array.isArray(reply)) throw new Error(UNEXPECTED_REPLY);
    let at = 0;
    const next = () => {
      const word = reply[at++];
      if (typeof word !== "number") throw new Error(UNEXPECTED_REPLY);
      return word;
    };
    const now = next();
    for (let i = 0; i < this.#used; i++) {
      const counter = this.#counters[i]!;
      const { state } = counter;
      const { words } = counter.quota.algorithm;
      state.level = next();
      state.at = words > 1 ? next() : 0;
      state.previous = words > 2 ? next() : 0;
      counter.unusable = (words > 1 ? state.at : state.level) === UNUSABLE;
    }
    if (at !== reply.length) throw new Error(UNEXPECTED_REPLY);
    return now;
  }

  /** Forgets the callers and their keys. */
  clear(): void {
    for (let i = 0; i < this.#used; i++) {
      const counter = this.#counters[i]!;
      counter.stem = "";
      counter.step = null;
    }
    this.#used = 0;
    this.#byKey.clear();
    this.#quotas.length = 0;
    this.#args.length = 0;
    this.#decisions.length = 0;
  }
}

function isSame(quota: KnownQuota, { algorithm, limit, burst, windowSize }: AcquireLimit): boolean {
  return (
    quota.limit === limit &&
    quota.algorithm === algorithm &&
    quota.windowSize === windowSize &&
    quota.burst === burst
  );
}

/** The same steps as {@link acquireTogether}, for one limit. @returns false if the key holds no state */
function decideSingle({ ticket, now, single, hits, counter }: Decision, storeNow: number): boolean {
  const { state, quota, unusable } = counter!;
  if (unusable) return false;
  const { algorithm } = quota;
  algorithm.advance(state, quota, algorithm.perWindow ? now * 1000 : storeNow);
  const accepted = hits < 0 || algorithm.accepts(state, quota, hits);
  if (hits !== 0 && (accepted || algorithm.countsRefused)) algorithm.apply(state, quota, hits);
  if (ticket.done) return true;
  const limit = single!.limits[0]!;
  limit.accepted = accepted;
  single!.accepted = accepted;
  single!.outcome = Outcome.COUNTED;
  algorithm.report(state, limit, hits, accepted, limit);
  return true;
}

/** @returns false if a key holds no state */
function decideTogether(decision: Decision, storeNow: number): boolean {
  const { ticket, now, copies, groups, holdBack, counters } = decision;
  for (const { unusable } of counters) if (unusable) return false;
  const states = counters.map(({ state }) => state);
  acquireTogether({ groups: copies, holdBack }, states, storeNow, now * 1000);
  if (ticket.done) return true;
  for (const [i, { outcome, accepted, limits }] of copies.entries()) {
    const group = groups[i]!;
    group.outcome = outcome;
    group.accepted = accepted;
    for (const [j, { accepted, used, remaining, reset }] of limits.entries())
      Object.assign(group.limits[j]!, { accepted, used, remaining, reset });
  }
  return true;
}
