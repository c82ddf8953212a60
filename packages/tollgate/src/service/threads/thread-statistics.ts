import { KeyBudget } from "../../observe/key-budget.ts";
import { boundedKey, boundedText, identityOf, isCut } from "../../observe/name-parts.ts";
import {
  type Counter,
  type GaugeReader,
  type MetricKey,
  type ReservationStatistics,
  type RuleStatistics,
  type Statistics,
  type Timer,
  uncounted,
} from "../../observe/statistics.ts";
import { type BinnedDurations, DurationBins } from "./duration-bins.ts";
import { type RuleFigures, reservationFields, ruleFields, type ThreadFigures } from "./thread-messages.ts";

/** Durations that a thread collects before it sends them. */
const DURATIONS = 16_384;
const OTHER = "_other";

/**
 * Statistics of a serving thread: plain fields, whose increases are sent to the main thread on request. The main thread
 * handles names, bounds across threads, and sinks.
 */
export class ThreadStatistics implements Statistics {
  readonly #dynamic: KeyBudget;
  readonly #sendDurations: (timer: string, durations: BinnedDurations) => void;
  readonly #rules = new Map<string, TrackedRule>();
  readonly #notFound = new Map<string, TrackedCounter>();
  readonly #counters = new Map<string, TrackedCounter>();
  readonly #sources = new Map<string, { read: () => number; sent: number }>();
  readonly #gauges = new Map<string, GaugeReader>();
  readonly #timers = new Map<string, BatchingTimer>();

  constructor(maxDynamicKeys: number, sendDurations: (timer: string, durations: BinnedDurations) => void) {
    this.#dynamic = new KeyBudget(maxDynamicKeys);
    this.#sendDurations = sendDurations;
  }

  rule(key: MetricKey, fromRequest: boolean): RuleStatistics {
    const bounded = boundedKey(key);
    if (key.isLimit && isCut(key, bounded)) return uncounted;
    const identity = identityOf(bounded);
    const known = this.#rules.get(identity);
    if (known !== undefined) return known;
    if (fromRequest && !this.#dynamic.take(identity))
      return key.isLimit ? uncounted : this.rule({ domain: key.domain, levels: [OTHER] }, false);
    const rule = new TrackedRule(bounded, fromRequest);
    this.#rules.set(identity, rule);
    return rule;
  }

  reservationsOf(rule: RuleStatistics): ReservationStatistics {
    if (!(rule instanceof TrackedRule)) throw new TypeError("these statistics are not those of a rule");
    return rule.reservations;
  }

  domainNotFound(domain: string): Counter {
    const bounded = boundedText(domain);
    const known = this.#notFound.get(bounded);
    if (known !== undefined) return known;
    if (bounded !== OTHER && !this.#dynamic.take(bounded)) return this.domainNotFound(OTHER);
    const counter = new TrackedCounter();
    this.#notFound.set(bounded, counter);
    return counter;
  }

  counter(name: string): Counter {
    let counter = this.#counters.get(name);
    if (counter === undefined) {
      counter = new TrackedCounter();
      this.#counters.set(name, counter);
    }
    return counter;
  }

  counterFrom(name: string, read: () => number): void {
    this.#sources.set(name, { read, sent: 0 });
  }

  gauge(name: string, read: GaugeReader): void {
    this.#gauges.set(name, read);
  }

  timer(name: string): Timer {
    let timer = this.#timers.get(name);
    if (timer === undefined) {
      timer = new BatchingTimer((durations) => this.#sendDurations(name, durations));
      this.#timers.set(name, timer);
    }
    return timer;
  }

  /** The figures since the last call. */
  take(): ThreadFigures {
    const sources = [...this.#sources].map(([name, source]): [string, number] => {
      const increase = source.read() - source.sent;
      source.sent += increase;
      return [name, increase];
    });
    return {
      rules: [...this.#rules.values()].map((rule) => rule.take()).filter((figures) => figures !== undefined),
      notFound: increasesOf(this.#notFound),
      counters: [...increasesOf(this.#counters), ...sources.filter(([, increase]) => increase !== 0)],
      gauges: [...this.#gauges].map(([name, read]) => [name, read()]),
      durations: [...this.#timers].map(([name, timer]) => [name, timer.take()]),
    };
  }
}

function increasesOf(counters: ReadonlyMap<string, TrackedCounter>): [string, number][] {
  return [...counters]
    .map(([name, counter]): [string, number] => [name, counter.take()])
    .filter(([, increase]) => increase !== 0);
}

class TrackedCounter implements Counter {
  value = 0;
  #sent = 0;

  take(): number {
    const increase = this.value - this.#sent;
    this.#sent = this.value;
    return increase;
  }
}

class TrackedRule implements RuleStatistics {
  totalHits = 0;
  overLimit = 0;
  nearLimit = 0;
  withinLimit = 0;
  shadowMode = 0;
  overLimitWithLocalCache = 0;
  totalNegativeHits = 0;
  readonly #key: MetricKey;
  readonly #fromRequest: boolean;
  #sent: readonly number[] = noIncreases;
  #reservations: ReservationStatistics | undefined;
  #sentReservations: readonly number[] = noReservations;

  constructor(key: MetricKey, fromRequest: boolean) {
    this.#key = key;
    this.#fromRequest = fromRequest;
  }

  get reservations(): ReservationStatistics {
    this.#reservations ??= { reserved: 0, released: 0, expired: 0, committed: 0 };
    return this.#reservations;
  }

  take(): RuleFigures | undefined {
    // Most rules have no hits between two readings, and the dashboard reads each second.
    const isSame = ruleFields.every((field, index) => this[field] === this.#sent[index]);
    if (isSame && this.#reservations === undefined) return undefined;
    const present = ruleFields.map((field) => this[field]);
    const increases = present.map((value, index) => value - this.#sent[index]!);
    const reservations = this.#takeReservations();
    if (increases.every(isZero) && reservations === undefined) return undefined;
    this.#sent = present;
    const figures = { key: this.#key, fromRequest: this.#fromRequest, increases };
    return reservations === undefined ? figures : { ...figures, reservations };
  }

  #takeReservations(): readonly number[] | undefined {
    const own = this.#reservations;
    if (own === undefined) return undefined;
    const present = reservationFields.map((field) => own[field]);
    const increases = present.map((value, index) => value - this.#sentReservations[index]!);
    this.#sentReservations = present;
    return increases.every(isZero) ? undefined : increases;
  }
}

const noIncreases = ruleFields.map(() => 0);
const noReservations = reservationFields.map(() => 0);

function isZero(increase: number): boolean {
  return increase === 0;
}

class BatchingTimer implements Timer {
  readonly #send: (durations: BinnedDurations) => void;
  readonly #bins = new DurationBins();
  #held = 0;

  constructor(send: (durations: BinnedDurations) => void) {
    this.#send = send;
  }

  record(milliseconds: number, times = 1): void {
    this.#bins.add(milliseconds, times);
    this.#held += times;
    if (this.#held >= DURATIONS) this.#send(this.take());
  }

  take(): BinnedDurations {
    this.#held = 0;
    return this.#bins.take();
  }
}
