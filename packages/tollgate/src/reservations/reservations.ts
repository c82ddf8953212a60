/**
 * Checks, reports, reservations and commits of one thread: prepares a call as a decision does, lets the store settle it,
 * and adds to the statistics. `counters/reservations.ts` has the rules.
 */
import { holdOf, Step, settleFor, Verdict } from "../counters/reservations.ts";
import { type CounterStore, Outcome } from "../counters/store.ts";
import type { DecisionOptions } from "../decision/decide.ts";
import type { LimitsScratch } from "../decision/limits-scratch.ts";
import { overallCode } from "../decision/overall.ts";
import type { PendingAnswer } from "../decision/pending-answer.ts";
import { Preparer } from "../decision/prepare.ts";
import type { PreparedPart } from "../decision/prepared.ts";
import { ScratchPool } from "../decision/scratch.ts";
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
import { Asked } from "./asked.ts";
import { checkCommit, checkDescriptor, checkReserve, LONGEST_TTL } from "./check-request.ts";
import { OpenHolds } from "./open-holds.ts";
import { ReservationError } from "./reservation-error.ts";
import { bind, copyId, makeId } from "./reservation-id.ts";
import { countCharge, countCommitted, countEnded, countReserve, statusesOf } from "./settle-results.ts";

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

/** A call's answer, or what its caller waits for if the store answers later. */
export type Answer<Response> = Response | PendingAnswer<Response>;

/**
 * Callers must write out a response at once: a later call reuses it.
 */
export class Reservations {
  readonly #options: ReservationOptions;
  readonly #statistics: Statistics;
  readonly #store: CounterStore;
  readonly #preparer: Preparer;
  readonly #pool = new ScratchPool<Asked>();
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
    const asked = this.#take(parts.length);
    asked.parts = parts as typeof asked.parts;
    return asked;
  }

  /** The same for a message. @throws {DecisionError} */
  prepareInPlace(places: RequestPlaces, ruleSet: RuleSet | undefined): Asked {
    const asked = this.#take(places.count);
    asked.parts = asked.scratch.parts;
    this.#preparer.prepareInPlace(places, ruleSet, asked.scratch);
    return asked;
  }

  #take(descriptors: number): Asked {
    const scratch = this.#pool.take(descriptors);
    scratch.more ??= new Asked(scratch, this.#pool);
    return scratch.more;
  }

  /** @throws {StoreError} like the other calls, directly or as the failure that the waiter gets */
  check(asked: Asked, time: CallTime): Answer<RateLimitResponse> {
    for (const part of asked.parts) if (part.hits >= 0) part.hits = Math.max(part.hits, 1);
    return this.#settle(asked, Step.CHECK, false, time, this.#checked);
  }

  report(asked: Asked, time: CallTime): Answer<RateLimitResponse> {
    return this.#settle(asked, Step.REPORT, false, time, this.#reported);
  }

  /**
   * A later call reuses the words of the response's id.
   * @throws {ReservationError}
   */
  reserve(asked: Asked, fields: ReserveFields, time: CallTime): Answer<ReserveResponse> {
    checkReserve(fields);
    const { ttl, maxFraction } = this.#options;
    const smallest = smallestLimit(asked.parts);
    const hold = smallest === undefined ? fields.amount : holdOf(fields.amount, smallest, maxFraction);
    setHits(asked, hold);
    asked.hold = hold;
    asked.request.ttl = Math.ceil(Math.min(fields.ttl ?? ttl, LONGEST_TTL));
    makeId(asked.id, Math.floor(time.now / 1000));
    return this.#settle(asked, Step.RESERVE, true, time, this.#reserved);
  }

  /** @throws {ReservationError} */
  commit(asked: Asked, fields: CommitFields, time: CallTime): Answer<CommitResponse> {
    checkCommit(fields);
    setHits(asked, fields.actual);
    const hasId = fields.id !== "";
    if (hasId) copyId(asked.id, fields.id);
    else asked.id.fill(0);
    return this.#settle(asked, Step.COMMIT, hasId, time, this.#committed);
  }

  /**
   * Returns the objects of the call to the pool if the store does not answer later.
   * @param hasId whether the call names the reservation `asked.id`
   * @param conclude makes the answer from the results of the store
   */
  #settle<Response>(
    asked: Asked,
    step: Step,
    hasId: boolean,
    { now, deadline }: CallTime,
    conclude: (asked: Asked) => Response,
  ): Answer<Response> {
    const { limits, request, parts, scratch } = asked;
    const readsPlaces = this.#store.readsPlaces === true;
    limits.arrange(parts, this.#options, Math.floor(now / 1000), scratch, readsPlaces, isLimited);
    const { groups } = limits;
    const madeAt = step === Step.COMMIT ? asked.id[4]! >>> 0 : 0;
    for (let index = 0; index < groups.length; index++) {
      const group = groups[index]!;
      const own = group.limits;
      group.lead = own.length === 1 ? 0 : leadOf(own);
      group.released = group.expired = group.restored = 0;
      for (let each = 0; each < own.length; each++) {
        const limit = own[each]!;
        const isLater = madeAt > 0 && limit.algorithm.perWindow;
        limit.homeStart = isLater ? limit.resolved.limit.window.startOf(madeAt) : limit.windowStart;
        // Another store than that of the last call may settle this one: a failure policy has two.
        limit.digest = undefined;
      }
    }
    request.step = step;
    request.token = undefined;
    if (hasId) {
      bind(asked.id, groups, asked.token);
      request.token = asked.token;
    }
    request.maxHolds = this.#options.maxHolds;
    request.now = now;
    request.deadline = deadline;
    request.verdict = Verdict.OK;
    request.released = request.repeated = false;
    const pending = asked.waitFor(conclude);
    if (groups.length > 0 && !settleFor(this.#store, request, pending)) return pending;
    this.#pool.give(scratch);
    return conclude(asked);
  }

  readonly #checked = (asked: Asked): RateLimitResponse => {
    countEnded(asked, this.#statistics, this.#openHolds);
    return this.#answer(asked, true);
  };

  readonly #reported = (asked: Asked): RateLimitResponse => {
    countEnded(asked, this.#statistics, this.#openHolds);
    countCharge(asked);
    return this.#answer(asked, false);
  };

  readonly #committed = (asked: Asked): CommitResponse => {
    const { request, limits, id } = asked;
    const { groups } = limits;
    countEnded(asked, this.#statistics, this.#openHolds);
    if (!request.repeated) {
      countCharge(asked);
      countCommitted(asked, this.#statistics);
    }
    for (let index = 0; index < groups.length; index++) this.#openHolds.committed(groups[index]!);
    if (groups.length > 0) return { released: request.released };
    // No counter holds anything for a reservation without limits.
    const madeAt = (id[4]! >>> 0) * 1000;
    return { released: request.token !== undefined && request.now - madeAt < LONGEST_TTL };
  };

  #answer({ limits, parts, request }: Asked, isVerdict: boolean): RateLimitResponse {
    const { response } = limits;
    const { quotaMode, shadowMode } = this.#options;
    statusesOf({ limits, parts, request }, Math.floor(request.now / 1000));
    let code = isVerdict ? overallCode(limits.statuses, parts, quotaMode) : Code.OK;
    if (code === Code.OVER_LIMIT && shadowMode) {
      code = Code.OK;
      this.#globalShadowMode.value++;
    }
    response.overallCode = code;
    return response;
  }

  /** @throws {ReservationError} TOO_MANY_RESERVATIONS */
  readonly #reserved = (asked: Asked): ReserveResponse => {
    const { request, limits, id, hold } = asked;
    countEnded(asked, this.#statistics, this.#openHolds);
    const { verdict } = request;
    if (verdict === Verdict.FULL)
      throw new ReservationError(
        "TOO_MANY_RESERVATIONS",
        "",
        `a counter has too many open reservations (RESERVATION_MAX_HOLDS is ${request.maxHolds})`,
      );
    countReserve(asked, this.#statistics, this.#openHolds);
    if (verdict === Verdict.REFUSED) {
      if (!this.#options.shadowMode) return refused;
      this.#globalShadowMode.value++;
    }
    // The store is unavailable: nothing is held, so there is nothing to commit.
    return isAllowed(limits) ? allowed : { code: Code.OK, id, reserved: hold };
  };
}

const refused: ReserveResponse = { code: Code.OVER_LIMIT, id: undefined, reserved: 0 };
const allowed: ReserveResponse = { code: Code.OK, id: undefined, reserved: 0 };

function isAllowed({ groups }: LimitsScratch): boolean {
  for (let index = 0; index < groups.length; index++)
    if (groups[index]!.outcome === Outcome.ALLOWED) return true;
  return false;
}

/** Checks the descriptors of a reservation or a commit. @throws {ReservationError} */
export function checkDescriptors({ count, descriptors }: RequestPlaces): void {
  for (let index = 0; index < count; index++) {
    const { hasLimit, isNegativeHits } = descriptors[index]!;
    checkDescriptor(index, hasLimit, isNegativeHits);
  }
}

function isLimited({ resolution: { rule, statistics, domainNotFound } }: PreparedPart): boolean {
  if (domainNotFound !== undefined) domainNotFound.value++;
  return rule !== undefined && statistics !== undefined && !rule.unlimited;
}

function setHits({ parts }: Asked, hits: number): void {
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index]!;
    part.hits = hits;
    part.isRefund = false;
  }
}

/** The smallest limit of the rules that can refuse, else of all. Undefined without a limit. */
function smallestLimit(parts: readonly PreparedPart[]): number | undefined {
  let smallest = Number.POSITIVE_INFINITY;
  let smallestShadow = Number.POSITIVE_INFINITY;
  for (let index = 0; index < parts.length; index++) {
    const { rule, limits } = parts[index]!.resolution;
    if (rule === undefined || rule.unlimited) continue;
    let own = limits === undefined ? rule.requestsPerUnit : Number.POSITIVE_INFINITY;
    // A bucket never holds more than its size.
    if (limits !== undefined)
      for (const { cap, limit } of limits) own = Math.min(own, cap, limit.requestsPerUnit);
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
  for (let index = 0; index < limits.length; index++) {
    const { algorithm, windowStart, windowSize } = limits[index]!;
    const end = algorithm.perWindow ? windowStart + windowSize : Number.POSITIVE_INFINITY;
    if (end <= latest) continue;
    latest = end;
    lead = index;
  }
  return lead;
}
