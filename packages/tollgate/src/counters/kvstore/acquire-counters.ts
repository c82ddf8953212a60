import { type CounterState, newCounterState } from "../acquire.ts";
import type { Algorithm, Quota } from "../algorithms/algorithm.ts";
import type { AcquireLimit, StemPlace } from "../store.ts";
import type { AcquireStep } from "./acquire-step.ts";
import { OpsByStem } from "./ops-by-stem.ts";
import type { Words } from "./resp/words.ts";
import { UNUSABLE } from "./states-script.ts";
import { textOf } from "./stems.ts";

/** The constants of a limit without its window. Calls refer to them by number, from 1. */
export interface KnownQuota extends Quota {
  readonly algorithm: Algorithm;
  readonly number: number;
}

/** One key of a call. */
export interface Counter {
  stem: string;
  /** Valid until the call is written. */
  place: StemPlace | undefined;
  windowStart: number;
  /** The number of the key, from 1. */
  number: number;
  quota: KnownQuota;
  /** The last step that uses it. */
  step: AcquireStep | null;
  /** The words with the last equal groups that use it; null if groups that are decided together followed. */
  words: Words | null;
  /** Their number of limits, and the position of `times`. `hits` precede it. */
  length: number;
  timesAt: number;
  /** The state in the reply. */
  readonly state: CounterState;
  unusable: boolean;
}

/** Quotas that are compared before a call lists a quota again. A batch rarely has more rules. */
const COMPARED_QUOTAS = 8;

/** Counters that the table of stems finds. It has four times as many places. */
const MAX_IN_TABLE = 1024;

/** The keys of a call with their states, and the quotas of their limits. */
export class AcquireCounters {
  readonly quotas: KnownQuota[] = [];
  readonly #counters: Counter[] = [];
  #used = 0;
  readonly #byStem = new OpsByStem<Counter>();
  /** Counters that are not the first one of their stem, or for which the table has no room. */
  readonly #byKey = new Map<string, Counter>();

  get size(): number {
    return this.#used;
  }

  at(index: number): Counter {
    return this.#counters[index]!;
  }

  /** The counter of a limit; undefined if an earlier step uses it with another quota. */
  counterOf(limit: AcquireLimit, step: AcquireStep): Counter | undefined {
    const { algorithm } = limit;
    const windowStart = algorithm.perWindow ? limit.windowStart : 0;
    const slot = this.#byStem.slotOf(limit);
    let counter = this.#byStem.opAt(slot);
    const isFirst = counter === undefined && slot >= 0 && this.#used < MAX_IN_TABLE;
    if (!isFirst && counter?.windowStart !== windowStart)
      counter = this.#byKey.get(textOf(limit) + windowStart);
    if (counter !== undefined) {
      if (counter.step !== step && !isSame(counter.quota, limit)) return undefined;
      counter.step = step;
      return counter;
    }
    counter = this.#next(this.quotaOf(limit), step);
    counter.stem = limit.stem;
    counter.place = limit.place;
    counter.windowStart = windowStart;
    if (isFirst) this.#byStem.set(slot, counter);
    else this.#byKey.set(textOf(limit) + windowStart, counter);
    return counter;
  }

  #next(quota: KnownQuota, step: AcquireStep): Counter {
    let counter = this.#counters[this.#used++];
    if (counter === undefined) {
      const state = newCounterState();
      const number = this.#used;
      counter = {
        stem: "",
        place: undefined,
        windowStart: 0,
        number,
        quota,
        step,
        words: null,
        length: 0,
        timesAt: 0,
        state,
        unusable: false,
      };
      this.#counters.push(counter);
    }
    counter.quota = quota;
    counter.step = step;
    counter.words = null;
    return counter;
  }

  quotaOf(limit: AcquireLimit): KnownQuota {
    const { quotas } = this;
    const { length } = quotas;
    for (let i = length - 1; i >= 0 && i >= length - COMPARED_QUOTAS; i--)
      if (isSame(quotas[i]!, limit)) return quotas[i]!;
    const { algorithm, burst, windowSize } = limit;
    const quota = { algorithm, limit: limit.limit, burst, windowSize, windowStart: 0, number: length + 1 };
    quotas.push(quota);
    return quota;
  }

  /**
   * Reads the stored states from the words of a reply, which follow the store's instant.
   * @throws {Error} for the reply of another script
   */
  read(reply: Words): void {
    let at = 1;
    for (let i = 0; i < this.#used; i++) {
      const counter = this.#counters[i]!;
      const { state } = counter;
      const isOne = counter.quota.algorithm.words === 1;
      if (at + (isOne ? 1 : 3) > reply.length) throw new Error(UNEXPECTED_REPLY);
      state.level = reply.at(at++);
      state.at = isOne ? 0 : reply.at(at++);
      state.previous = isOne ? 0 : reply.at(at++);
      counter.unusable = (isOne ? state.level : state.at) === UNUSABLE;
    }
    if (at !== reply.length) throw new Error(UNEXPECTED_REPLY);
  }

  /** Forgets the keys. */
  clear(): void {
    for (let i = 0; i < this.#used; i++) {
      const counter = this.#counters[i]!;
      counter.stem = "";
      counter.place = undefined;
      counter.step = null;
    }
    this.#used = 0;
    this.#byStem.clear();
    if (this.#byKey.size > 0) this.#byKey.clear();
    this.quotas.length = 0;
  }
}

export const UNEXPECTED_REPLY = "the reply of the script for limits has an unexpected format";

function isSame(quota: KnownQuota, { algorithm, limit, burst, windowSize }: AcquireLimit): boolean {
  return (
    quota.limit === limit &&
    quota.algorithm === algorithm &&
    quota.windowSize === windowSize &&
    quota.burst === burst
  );
}
