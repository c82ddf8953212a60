/**
 * Checks, reports, reservations and commits of one thread: prepares a call as a decision does, lets the store settle it,
 * and adds to the statistics. `counters/reservations.ts` has the rules.
 */
import {
  holdOf,
  type ReservationRequest,
  Step,
  settleFrom,
  type Token,
  Verdict,
} from "../counters/reservations.ts";
import { type CounterStore, Outcome } from "../counters/store.ts";
import type { DecisionOptions } from "../decision/decide.ts";
import { overallCode } from "../decision/overall.ts";
import { Preparer } from "../decision/prepare.ts";
import type { PreparedPart } from "../decision/prepared.ts";
import type { Counter, Statistics } from "../observe/statistics.ts";
import { Code, type RateLimitRequest, type RateLimitResponse } from "../protocol/messages.ts";
import type {
  CommitFields,
  CommitResponse,
  ReserveFields,
  ReserveResponse,
} from "../protocol/reservation-messages.ts";
import type { RequestPlaces } from "../protocol/scan-request.ts";
import type { RuleSet } from "../rules/rule.ts";
import { type Asked, AskedPool } from "./asked.ts";
import { checkCommit, checkDescriptor, checkReserve, LONGEST_TTL } from "./check-request.ts";
import { OpenHolds } from "./open-holds.ts";
import { ReservationError } from "./reservation-error.ts";
import { bind, newId, readId } from "./reservation-id.ts";
import { countCharge, countEnded, countReserve, statusesOf } from "./settle-results.ts";

export interface ReservationOptions extends DecisionOptions {
  /** `RESERVATION_TTL`, in milliseconds */
  readonly ttl: number;
  /** `RESERVATION_MAX_FRACTION` */
  readonly maxFraction: number;
  /** `RESERVATION_MAX_HOLDS` */
  readonly maxHolds: number;
}

/** The time of a call and the deadline of its caller, in milliseconds since the epoch. A deadline of 0 never passes. */
export interface CallTime {
  readonly now: number;
  readonly deadline: number;
}

export class Reservations {
  readonly #options: ReservationOptions;
  readonly #statistics: Statistics;
  readonly #store: CounterStore;
  readonly #preparer: Preparer;
  readonly #pool = new AskedPool();
  readonly #openHolds: OpenHolds;
  readonly #globalShadowMode: Counter;

  constructor(options: ReservationOptions, statistics: Statistics, store: CounterStore) {
    this.#options = options;
    this.#statistics = statistics;
    this.#store = store;
    this.#preparer = new Preparer(options, statistics);
    this.#openHolds = new OpenHolds(store, statistics);
    this.#globalShadowMode = statistics.counter("ratelimit.service.global_shadow_mode");
  }

  /** @throws {DecisionError} for a bad request, or without rules */
  prepare(request: RateLimitRequest, ruleSet: RuleSet | undefined): Asked {
    const { parts } = this.#preparer.prepare(request, ruleSet);
    const asked = this.#pool.take(parts.length);
    asked.parts = parts as typeof asked.parts;
    return asked;
  }

  /** The same for a message. @throws {DecisionError} */
  prepareInPlace(places: RequestPlaces, ruleSet: RuleSet | undefined): Asked {
    const asked = this.#pool.take(places.count);
    this.#preparer.prepareInPlace(places, ruleSet, asked.scratch);
    return asked;
  }

  /** @throws {StoreError} like the other calls, directly or as the promise's rejection */
  check(asked: Asked, time: CallTime): RateLimitResponse | Promise<RateLimitResponse> {
    for (const part of asked.parts) if (part.hits >= 0) part.hits = Math.max(part.hits, 1);
    return this.#settle(asked, Step.CHECK, undefined, time, () => this.#answer(asked, time, true));
  }

  report(asked: Asked, time: CallTime): RateLimitResponse | Promise<RateLimitResponse> {
    return this.#settle(asked, Step.REPORT, undefined, time, () => {
      countCharge(asked);
      return this.#answer(asked, time, false);
    });
  }

  /** @throws {ReservationError} */
  reserve(asked: Asked, fields: ReserveFields, time: CallTime): ReserveResponse | Promise<ReserveResponse> {
    checkReserve(fields);
    const { ttl, maxFraction } = this.#options;
    const smallest = smallestLimit(asked.parts);
    const hold = smallest === undefined ? fields.amount : holdOf(fields.amount, smallest, maxFraction);
    setHits(asked, hold);
    const { text, token } = newId(Math.floor(time.now / 1000));
    asked.request.ttl = Math.ceil(Math.min(fields.ttl ?? ttl, LONGEST_TTL));
    return this.#settle(asked, Step.RESERVE, token, time, () => this.#reserved(asked, text, hold));
  }

  /** @throws {ReservationError} */
  commit(asked: Asked, fields: CommitFields, time: CallTime): CommitResponse | Promise<CommitResponse> {
    checkCommit(fields);
    setHits(asked, fields.actual);
    const id = readId(fields.id);
    return this.#settle(
      asked,
      Step.COMMIT,
      id?.token,
      time,
      () => {
        const { request, limits } = asked;
        if (!request.repeated) countCharge(asked, this.#statistics);
        for (const group of limits.groups) this.#openHolds.committed(group);
        if (limits.groups.length > 0) return { released: request.released };
        // No counter holds anything for a reservation without limits.
        return { released: id !== undefined && time.now - id.madeAt * 1000 < LONGEST_TTL };
      },
      id?.madeAt,
    );
  }

  /** @param madeAt when the reservation was made, in seconds */
  #settle<Answer>(
    asked: Asked,
    step: ReservationRequest["step"],
    token: Token | undefined,
    { now, deadline }: CallTime,
    answer: () => Answer,
    madeAt = 0,
  ): Answer | Promise<Answer> {
    const { limits, request, parts, scratch } = asked;
    const readsPlaces = this.#store.readsPlacesOfLimits === true;
    limits.arrange(parts, this.#options, Math.floor(now / 1000), scratch, readsPlaces, isLimited);
    const { groups } = limits;
    for (let index = 0; index < groups.length; index++) {
      const group = groups[index]!;
      const own = group.limits;
      group.lead = own.length === 1 ? 0 : leadOf(own);
      group.released = group.expired = group.restored = 0;
      for (let each = 0; each < own.length; each++) {
        const limit = own[each]!;
        const isLater = madeAt > 0 && limit.algorithm.perWindow;
        limit.homeStart = isLater ? limit.resolved.limit.window.startOf(madeAt) : limit.windowStart;
      }
    }
    request.step = step;
    request.token = token && bind(token, groups);
    request.maxHolds = this.#options.maxHolds;
    request.now = now;
    request.deadline = deadline;
    request.verdict = Verdict.OK;
    request.released = request.repeated = false;
    const waiting = groups.length === 0 ? undefined : settleFrom(this.#store, request);
    if (waiting === undefined) {
      this.#pool.give(asked);
      this.#countEnded(asked);
      return answer();
    }
    return waiting.then(() => {
      this.#pool.giveLater(asked);
      this.#countEnded(asked);
      return answer();
    });
  }

  /** The ends of restored holds are unknown, so their counter is due at once. */
  #countEnded(asked: Asked): void {
    countEnded(asked, this.#statistics, (group, statistics) =>
      this.#openHolds.add(group, statistics, asked.request.now),
    );
  }

  #answer(asked: Asked, { now }: CallTime, isVerdict: boolean): RateLimitResponse {
    const { limits, parts } = asked;
    const { response } = limits;
    const { quotaMode, shadowMode } = this.#options;
    statusesOf(asked, Math.floor(now / 1000));
    let code = isVerdict ? overallCode(limits.statuses, parts, quotaMode) : Code.OK;
    if (code === Code.OVER_LIMIT && shadowMode) {
      code = Code.OK;
      this.#globalShadowMode.value++;
    }
    response.overallCode = code;
    return response;
  }

  /** @throws {ReservationError} TOO_MANY_RESERVATIONS */
  #reserved(asked: Asked, id: string, hold: number): ReserveResponse {
    const { request, limits } = asked;
    const { verdict } = request;
    if (verdict === Verdict.FULL)
      throw new ReservationError(
        "TOO_MANY_RESERVATIONS",
        "",
        `a counter has too many open reservations (RESERVATION_MAX_HOLDS is ${request.maxHolds})`,
      );
    const end = request.now + request.ttl;
    countReserve(asked, this.#statistics, (group, statistics) => this.#openHolds.add(group, statistics, end));
    if (verdict === Verdict.REFUSED) {
      if (!this.#options.shadowMode) return { code: Code.OVER_LIMIT, id: "", reserved: 0 };
      this.#globalShadowMode.value++;
    }
    // The store is unavailable: nothing is held, so there is nothing to commit.
    const isAllowed = limits.groups.some(({ outcome }) => outcome === Outcome.ALLOWED);
    return isAllowed ? { code: Code.OK, id: "", reserved: 0 } : { code: Code.OK, id, reserved: hold };
  }
}

/** Checks the descriptors of a reservation or a commit. @throws {ReservationError} */
export function checkDescriptors({ count, descriptors }: RequestPlaces): void {
  for (let index = 0; index < count; index++) {
    const { hasLimit, isNegativeHits } = descriptors[index]!;
    checkDescriptor(index, hasLimit, isNegativeHits);
  }
}

function isLimited({ rule, statistics, domainNotFound }: PreparedPart): boolean {
  if (domainNotFound !== undefined) domainNotFound.value++;
  return rule !== undefined && statistics !== undefined && !rule.unlimited;
}

function setHits({ parts }: Asked, hits: number): void {
  for (const part of parts) {
    part.hits = hits;
    part.isRefund = false;
  }
}

/** The smallest limit of the rules that can refuse, else of all. Undefined without a limit. */
function smallestLimit(parts: readonly PreparedPart[]): number | undefined {
  let smallest = Number.POSITIVE_INFINITY;
  let smallestShadow = Number.POSITIVE_INFINITY;
  for (const { rule, limits } of parts) {
    if (rule === undefined || rule.unlimited) continue;
    let own = limits === undefined ? rule.requestsPerUnit : Number.POSITIVE_INFINITY;
    // A bucket never holds more than its size.
    for (const { cap, limit } of limits ?? []) own = Math.min(own, cap, limit.requestsPerUnit);
    if (rule.shadowMode) smallestShadow = Math.min(smallestShadow, own);
    else smallest = Math.min(smallest, own);
  }
  const found = smallest === Number.POSITIVE_INFINITY ? smallestShadow : smallest;
  return found === Number.POSITIVE_INFINITY ? undefined : found;
}

/** The limit whose holds last longest: one without windows, or that with the window that ends last. */
function leadOf(
  limits: readonly {
    readonly algorithm: { readonly perWindow: boolean };
    readonly windowStart: number;
    readonly windowSize: number;
  }[],
): number {
  let lead = 0;
  let latest = 0;
  for (const [index, { algorithm, windowStart, windowSize }] of limits.entries()) {
    const end = algorithm.perWindow ? windowStart + windowSize : Number.POSITIVE_INFINITY;
    if (end <= latest) continue;
    latest = end;
    lead = index;
  }
  return lead;
}
