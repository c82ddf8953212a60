/**
 * Counts the holds that nobody commits. A store ends a hold with the next call for its counter, and that call may never
 * come: the gauge of what is held would stay too high. Each thread therefore remembers the counters from which it has
 * reserved, and looks at a counter after its last hold has ended.
 */
import { Backoff } from "../backoff.ts";
import {
  type ReservationRequest,
  type ReservedGroup,
  type ReservedLimit,
  Step,
  settleFrom,
  Verdict,
} from "../counters/reservations.ts";
import { type CounterStore, Outcome, Refuses } from "../counters/store.ts";
import type { RuleStatistics, Statistics } from "../observe/statistics.ts";
import { CounterKeys, type KnownCounter, stemOf } from "./counter-keys.ts";

/** Counters that a thread remembers, and the characters of their keys. Above it, the first one is forgotten. */
const MAX_COUNTERS = 10_000;
const MAX_CHARACTERS = 8 * 1024 * 1024;
/** Milliseconds between two rounds of looks, and the looks of one round. */
const PERIOD = 1000;
const MOST_LOOKS = 512;
/** Looks at a time. A round ends when one of them fails. */
const AT_A_TIME = 16;
/** Milliseconds between two rounds at most, while the store fails. */
const LONGEST_PERIOD = 30_000;
/** Milliseconds until another look at a counter whose holds are still open: another process may have made them. */
const AGAIN = 60_000;

interface Remembered extends KnownCounter {
  readonly group: ReservedGroup;
  readonly statistics: RuleStatistics;
  /** The characters of the keys of all limits. */
  readonly characters: number;
  /** The end of the last hold, in milliseconds since the epoch. */
  end: number;
}

export class OpenHolds {
  readonly #store: CounterStore;
  readonly #statistics: Statistics;
  readonly #counters = new CounterKeys<Remembered>();
  readonly #backoff = new Backoff(
    { initialInterval: PERIOD, maxInterval: LONGEST_PERIOD, factor: 1, jitter: false },
    Math.random,
  );
  #characters = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(store: CounterStore, statistics: Statistics) {
    this.#store = store;
    this.#statistics = statistics;
  }

  /**
   * A reservation holds hits of a group.
   * @param end of its time to live, in milliseconds since the epoch
   */
  add(group: ReservedGroup, statistics: RuleStatistics, end: number): void {
    const lead = leadOf(group);
    const { algorithm, windowStart, windowSize } = lead;
    const last = algorithm.perWindow ? Math.min(end, (windowStart + windowSize) * 1000) : end;
    const counters = this.#counters;
    const known = counters.find(lead);
    if (known !== undefined) {
      if (known.end < last) known.end = last;
      return;
    }
    const { asked } = counters;
    const copy = copyOf(group);
    const characters = copy.limits.reduce((sum, { stem }) => sum + stem.length, 0);
    const half = lead.digest?.[0] ?? 0;
    const { stem } = leadOf(copy);
    counters.add({ key: asked, half, stem, windowStart, group: copy, statistics, characters, end: last });
    this.#characters += characters;
    while (counters.size > MAX_COUNTERS || this.#characters > MAX_CHARACTERS) this.#forget(counters.first()!);
    this.#timer ??= setTimeout(() => void this.#look(), PERIOD).unref();
  }

  /** A commit has reached the store. A counter without open holds needs no look, which costs more than this in Redis. */
  committed(group: ReservedGroup): void {
    const lead = leadOf(group);
    if (lead.held !== 0 || lead.digest !== undefined || this.#counters.size === 0) return;
    const known = this.#counters.find(lead);
    if (known !== undefined) this.#forget(known);
  }

  #forget(counter: Remembered): void {
    if (this.#counters.delete(counter)) this.#characters -= counter.characters;
  }

  /** If a look fails, most others would fail too: the round ends. If none succeeds, the next round is later. */
  async #look(): Promise<void> {
    const now = Date.now();
    const due: Remembered[] = [];
    for (const counter of this.#counters) {
      if (counter.end > now) continue;
      due.push(counter);
      if (due.length === MOST_LOOKS) break;
    }
    let answered = 0;
    let isFailing = false;
    for (let next = 0; next < due.length && !isFailing; next += AT_A_TIME) {
      const some = due.slice(next, next + AT_A_TIME);
      const looks = await Promise.all(some.map((counter) => this.#lookAt(counter, now)));
      for (const isAnswered of looks)
        if (isAnswered) answered++;
        else isFailing = true;
    }
    if (answered > 0) this.#backoff.reset();
    const period = isFailing && answered === 0 ? this.#backoff.next() : PERIOD;
    this.#timer = this.#counters.size === 0 ? undefined : setTimeout(() => void this.#look(), period).unref();
  }

  /** @returns whether the store has answered */
  async #lookAt(counter: Remembered, now: number): Promise<boolean> {
    const { group, statistics } = counter;
    try {
      await settleFrom(this.#store, lookOf(group, now));
    } catch {
      // The failure policy has reported it. The next round begins with other counters: their server may work.
      this.#counters.moveToEnd(counter);
      return false;
    }
    if (group.expired > 0) this.#statistics.reservationsOf(statistics).expired += group.expired;
    if (leadOf(group).held > 0) counter.end = Math.max(counter.end, now + AGAIN);
    else if (counter.end <= now) this.#forget(counter);
    return true;
  }
}

/** A `CANCEL` of no reservation changes nothing, and fails in every failure mode while the store is unavailable. */
function lookOf(group: ReservedGroup, now: number): ReservationRequest {
  return {
    step: Step.CANCEL,
    groups: [group],
    token: undefined,
    ttl: 0,
    maxHolds: 0,
    now,
    deadline: 0,
    verdict: Verdict.OK,
    released: false,
    repeated: false,
  };
}

function leadOf({ limits, lead }: ReservedGroup): ReservedLimit {
  return limits[lead]!;
}

/** The next call overwrites the original. */
function copyOf({ limits, lead }: ReservedGroup): ReservedGroup {
  return {
    limits: limits.map((limit) => ({
      stem: stemOf(limit),
      place: undefined,
      algorithm: limit.algorithm,
      reservations: limit.reservations === true,
      limit: limit.limit,
      burst: limit.burst,
      windowStart: limit.windowStart,
      windowSize: limit.windowSize,
      homeStart: limit.windowStart,
      accepted: true,
      used: 0,
      remaining: 0,
      reset: 0,
      held: 0,
      digest: undefined,
    })),
    lead,
    hits: 0,
    refuses: Refuses.NEVER,
    outcome: Outcome.COUNTED,
    accepted: true,
    released: 0,
    expired: 0,
    restored: 0,
  };
}
