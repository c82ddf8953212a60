import { promiseOf } from "../decision/pending-answer.ts";
import { requestFromJsonBytes } from "../protocol/json-request.ts";
import { commitFromJson, reserveFromJson } from "../protocol/json-reservation.ts";
import type { RateLimitRequest, RateLimitResponse } from "../protocol/messages.ts";
import type { RequestLimits } from "../protocol/request-limits.ts";
import type { CommitResponse, ReservationTarget, ReserveResponse } from "../protocol/reservation-messages.ts";
import { RequestPlaces } from "../protocol/scan-request.ts";
import { scanCommit, scanReserve } from "../protocol/scan-reservation.ts";
import { checkDescriptor } from "../reservations/check-request.ts";
import {
  type Answer,
  type CallTime,
  checkDescriptors,
  type Reservations,
} from "../reservations/reservations.ts";
import type { RuleSet } from "../rules/rule.ts";

export interface ReservationHandlerOptions {
  readonly reservations: Reservations;
  readonly limits: RequestLimits;
  readonly ruleSet: () => RuleSet | undefined;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

/** The place of a message. */
export interface MessagePlace {
  readonly buffer: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** Takes the domain and the number of descriptors of a call, for its trace. */
export type Seen = (domain: string, descriptors: number) => void;

type JsonAnswer<Response> = Response | Promise<Response>;

/**
 * Reads the calls of the reservation service for all listeners. Callers must write out a response that is not a promise
 * at once: a later call reuses it.
 */
export class ReservationHandler {
  readonly #reservations: Reservations;
  readonly #limits: RequestLimits;
  readonly #ruleSet: () => RuleSet | undefined;
  readonly #now: () => number;
  readonly #places = new RequestPlaces();

  constructor({ reservations, limits, ruleSet, now = Date.now }: ReservationHandlerOptions) {
    this.#reservations = reservations;
    this.#limits = limits;
    this.#ruleSet = ruleSet;
    this.#now = now;
  }

  check(place: MessagePlace, time: CallTime, seen?: Seen): Answer<RateLimitResponse> {
    this.#scan(place, seen);
    return this.#reservations.check(this.#prepareInPlace(), time);
  }

  report(place: MessagePlace, time: CallTime, seen?: Seen): Answer<RateLimitResponse> {
    this.#scan(place, seen);
    return this.#reservations.report(this.#prepareInPlace(), time);
  }

  reserve(place: MessagePlace, time: CallTime, seen?: Seen): Answer<ReserveResponse> {
    const fields = scanReserve(place.buffer, place.start, place.end);
    this.#scan(place, seen);
    checkDescriptors(this.#places);
    return this.#reservations.reserve(this.#prepareInPlace(), fields, time);
  }

  commit(place: MessagePlace, time: CallTime, seen?: Seen): Answer<CommitResponse> {
    const fields = scanCommit(place.buffer, place.start, place.end);
    this.#scan(place, seen);
    checkDescriptors(this.#places);
    return this.#reservations.commit(this.#prepareInPlace(), fields, time);
  }

  checkJson(bytes: Uint8Array, seen?: Seen): JsonAnswer<RateLimitResponse> {
    const request = requestFromJsonBytes(bytes, this.#limits);
    return promiseOf(this.#reservations.check(this.#prepare(request, seen), this.#time()));
  }

  reportJson(bytes: Uint8Array, seen?: Seen): JsonAnswer<RateLimitResponse> {
    const request = requestFromJsonBytes(bytes, this.#limits);
    return promiseOf(this.#reservations.report(this.#prepare(request, seen), this.#time()));
  }

  reserveJson(bytes: Uint8Array, seen?: Seen): JsonAnswer<ReserveResponse> {
    const fields = reserveFromJson(bytes, this.#limits);
    return promiseOf(this.#reservations.reserve(this.#prepare(targetOf(fields), seen), fields, this.#time()));
  }

  commitJson(bytes: Uint8Array, seen?: Seen): JsonAnswer<CommitResponse> {
    const fields = commitFromJson(bytes, this.#limits);
    return promiseOf(this.#reservations.commit(this.#prepare(targetOf(fields), seen), fields, this.#time()));
  }

  #scan({ buffer, start, end }: MessagePlace, seen: Seen | undefined): void {
    const places = this.#places;
    places.scan(buffer, start, end, this.#limits);
    seen?.(places.text(places.domainStart, places.domainEnd), places.count);
  }

  #prepareInPlace() {
    return this.#reservations.prepareInPlace(this.#places, this.#ruleSet());
  }

  #prepare(request: RateLimitRequest, seen: Seen | undefined) {
    seen?.(request.domain, request.descriptors.length);
    return this.#reservations.prepare(request, this.#ruleSet());
  }

  #time(): CallTime {
    return { now: this.#now(), deadline: 0 };
  }
}

/** @throws {ReservationError} */
function targetOf({ domain, descriptors }: ReservationTarget): RateLimitRequest {
  for (const [index, { limit, isNegativeHits }] of descriptors.entries())
    checkDescriptor(index, limit !== undefined, isNegativeHits);
  return { domain, descriptors, hitsAddend: 0 };
}
