/**
 * Reservations: hits that a caller holds before it knows how many it needs. A *hold* takes hits of a counter's limit
 * until its `Commit`, the end of its time to live, or the end of the window in which it was made.
 *
 * {@link settleTogether} decides on counters whose states and holds are known. The embedded store and the model of the
 * tests call it, the key-value store repeats the decisions of its script with it.
 */
import { begin, type CounterState, fits, reportHeld } from "./acquire.ts";
import { isRefused } from "./hold-back.ts";
import {
  type AcquireGroup,
  type AcquireLimit,
  type CounterStore,
  MAX_COUNT,
  Outcome,
  Refuses,
  StoreError,
  type Waiter,
  whenAnswered,
} from "./store.ts";

export const Step = {
  /** Whether hits would pass beside the open holds. Changes nothing. */
  CHECK: 0,
  /** Counts hits whatever the verdict. */
  REPORT: 1,
  /** Holds hits, in all counters or in none. */
  RESERVE: 2,
  /** Releases a hold and counts hits whatever the verdict, once for each reservation. */
  COMMIT: 3,
  /** Releases a hold and counts nothing: another part of the request was refused. */
  CANCEL: 4,
  /** A `CHECK` that no statistic counts: hits of ended and of restored holds are left to the next step. */
  LOOK: 5,
} as const;
export type Step = (typeof Step)[keyof typeof Step];

/** Whether a step neither counts, holds nor releases hits. */
export function changesNothing(step: Step): boolean {
  return step === Step.CHECK || step === Step.LOOK;
}

/** The result of a step as a whole. */
export const Verdict = {
  OK: 0,
  REFUSED: 1,
  /** A counter has as many holds as it may have, or the store has no room for another one. */
  FULL: 2,
} as const;
export type Verdict = (typeof Verdict)[keyof typeof Verdict];

/** The number of a reservation: 128 bits. */
export type Token = readonly [number, number, number, number];

export interface ReservedLimit extends AcquireLimit {
  /** Start of the window in which the reservation was made, for `COMMIT` and `CANCEL`. */
  readonly homeStart: number;
  /** Result: hits that open holds take of this limit, those of this request included. They are part of `used`. */
  held: number;
  /** Result: what the embedded store knows the holds of the counter by, until its next call. Other stores set none. */
  digest?: Int32Array | undefined;
}

/** The limits of one descriptor, as in {@link AcquireGroup}. */
export interface ReservedGroup extends AcquireGroup {
  readonly limits: readonly ReservedLimit[];
  /** The limit whose holds the statistics count: the one whose window ends last. */
  readonly lead: number;
  /** Result: hits whose hold this step released. */
  released: number;
  /** Result: hits whose hold ended without a commit. Each is reported once. */
  expired: number;
  /** Result: hits whose hold a snapshot has restored. Each is reported once. */
  restored: number;
}

export interface ReservationRequest {
  readonly step: Step;
  /** Groups in the order of the descriptors. Equal counters follow each other: the second sees the first's hits. */
  readonly groups: readonly ReservedGroup[];
  /** Undefined for steps without a reservation, and for a commit without one. */
  readonly token: Token | undefined;
  /** Milliseconds until a hold ends by itself. */
  readonly ttl: number;
  /** `RESERVATION_MAX_HOLDS`: open holds of one counter. */
  readonly maxHolds: number;
  /** Start of the call, in milliseconds since the epoch. */
  readonly now: number;
  /** The caller's deadline, in milliseconds since the epoch; 0 for none. */
  readonly deadline: number;
  /** Result. */
  verdict: Verdict;
  /** Result of `COMMIT`, and of `CHECK` with a token: whether the reservation is known and its time to live has not passed. */
  released: boolean;
  /** The same: whether it was committed before. A commit then counts nothing. */
  repeated: boolean;
}

/** A store that keeps holds. */
export interface ReservationStore extends CounterStore {
  /**
   * Fills in the results of the request, its groups and its limits.
   * @throws {StoreError} like `count`
   */
  settle(request: ReservationRequest): void | Promise<void>;
  /** The same without a promise: see `countFor`. */
  settleFor?(request: ReservationRequest, waiter: Waiter): boolean;
}

/** Milliseconds for which a store remembers that a reservation was committed. */
export const REMEMBERED = 3_600_000;

/** The counter of a limit, and what its holds are. Limits with the same counter share one object. */
export interface LedgerState extends CounterState {
  /** Number of open holds. */
  holds: number;
  /** Hits that the request's own hold takes; 0 if it takes none, or no longer. */
  own: number;
  /** Whether the hold is known, and its time to live has not passed. */
  isKnown: boolean;
  /** Whether the reservation was committed. */
  isCommitted: boolean;
  /** Hits whose hold ended since the last step. */
  expired: number;
  /** Hits whose hold a snapshot has restored, in the first step for the counter. */
  restored: number;
  /** Result: hits to add to the request's own hold. */
  adds: number;
  /** Result: whether the store must end the request's own hold. */
  ends: boolean;
}

export function newLedgerState(state: CounterState): LedgerState {
  return {
    ...state,
    holds: 0,
    own: 0,
    isKnown: false,
    isCommitted: false,
    expired: 0,
    restored: 0,
    adds: 0,
    ends: false,
  };
}

/**
 * Decides a step and fills in its results. No other caller may change the states and the holds meanwhile.
 * @param states one for each limit, in the order of the groups and their limits
 * @param now microseconds since the epoch
 * @param windowNow the same for limits with a state for each window. Default `now`.
 */
export function settleTogether(
  request: ReservationRequest,
  states: readonly LedgerState[],
  now: number,
  windowNow = now,
): void {
  const { groups, step } = request;
  request.verdict = Verdict.OK;
  request.released = request.repeated = false;
  let at = 0;
  for (let which = 0; which < groups.length; which++) {
    const group = groups[which]!;
    group.outcome = Outcome.COUNTED;
    group.accepted = true;
    group.released = group.expired = group.restored = 0;
    for (let index = 0; index < group.limits.length; index++) {
      const limit = group.limits[index]!;
      const state = states[at++]!;
      begin(state, limit, limit.algorithm.perWindow ? windowNow : now);
      state.adds = 0;
      state.ends = false;
      if (index !== group.lead) continue;
      group.expired = state.expired;
      group.restored = state.restored;
      state.expired = state.restored = 0;
    }
  }
  if (changesNothing(step)) check(request, states);
  else if (step === Step.RESERVE) reserve(request, states);
  else if (step === Step.REPORT) charge(groups, states);
  else end(request, states);
}

/** Each group is decided alone. */
function check(request: ReservationRequest, states: readonly LedgerState[]): void {
  const { groups } = request;
  let at = 0;
  for (const group of groups) {
    ask(group, states, at);
    report(group, states, at);
    at += group.limits.length;
  }
  if (areRefused(groups)) request.verdict = Verdict.REFUSED;
  if (request.token === undefined) return;
  request.released = states.some(({ isKnown }) => isKnown);
  request.repeated = states.some(({ isCommitted }) => isCommitted);
}

function reserve(request: ReservationRequest, states: readonly LedgerState[]): void {
  const { groups, maxHolds } = request;
  let isFull = false;
  let at = 0;
  for (const group of groups) {
    ask(group, states, at);
    if (group.accepted && !hasRoom(group, states, at, maxHolds)) {
      group.accepted = false;
      if (group.refuses !== Refuses.NEVER) isFull = true;
    }
    if (group.accepted) hold(group, states, at, 1);
    at += group.limits.length;
  }
  const isRejected = isFull || areRefused(groups);
  if (isRejected) request.verdict = isFull ? Verdict.FULL : Verdict.REFUSED;
  at = 0;
  for (const group of groups) {
    if (isRejected && group.accepted) hold(group, states, at, -1);
    at += group.limits.length;
  }
  at = 0;
  for (const group of groups) {
    report(group, states, at);
    at += group.limits.length;
  }
}

function ask(group: ReservedGroup, states: readonly LedgerState[], first: number): void {
  const { limits } = group;
  for (let index = 0; index < limits.length; index++) {
    const limit = limits[index]!;
    limit.accepted = group.hits < 0 || fits(states[first + index]!, limit, group.hits);
    if (!limit.accepted) group.accepted = false;
  }
}

function hasRoom(
  { limits }: ReservedGroup,
  states: readonly LedgerState[],
  first: number,
  maxHolds: number,
): boolean {
  for (let index = 0; index < limits.length; index++) {
    const { adds, holds } = states[first + index]!;
    if (adds === 0 && holds >= maxHolds) return false;
  }
  return true;
}

/** @param sign 1 to hold the hits of a group, -1 to take that back */
function hold(
  { limits, hits }: ReservedGroup,
  states: readonly LedgerState[],
  first: number,
  sign: 1 | -1,
): void {
  for (let index = 0; index < limits.length; index++) {
    const state = states[first + index]!;
    state.adds += sign * hits;
    state.held += sign * hits;
  }
}

function charge(groups: readonly ReservedGroup[], states: readonly LedgerState[]): void {
  let at = 0;
  for (const group of groups) {
    for (const limit of group.limits) apply(states[at++]!, limit, group.hits);
    reportCharged(group, states, at - group.limits.length);
  }
  clear(groups, states);
}

/** `COMMIT` and `CANCEL`. */
function end(request: ReservationRequest, states: readonly LedgerState[]): void {
  const { groups, step, token } = request;
  let at = 0;
  for (const group of groups) {
    for (let index = 0; index < group.limits.length; index++) {
      const limit = group.limits[index]!;
      const state = states[at++]!;
      if (state.isCommitted) {
        request.repeated = true;
        continue;
      }
      if (token !== undefined && !state.ends) {
        state.ends = true;
        if (state.isKnown) request.released = true;
        state.held = Math.max(state.held - state.own, 0);
        if (index === group.lead) group.released = state.own;
        state.own = 0;
      }
      if (step === Step.COMMIT) apply(state, limit, group.hits);
    }
    reportCharged(group, states, at - group.limits.length);
  }
  clear(groups, states);
}

function apply(state: LedgerState, limit: ReservedLimit, hits: number): void {
  if (hits === 0) return;
  limit.algorithm.apply(state, limit, hits);
  state.changed = true;
}

function report({ limits, hits }: ReservedGroup, states: readonly LedgerState[], first: number): void {
  for (let index = 0; index < limits.length; index++) {
    const limit = limits[index]!;
    const state = states[first + index]!;
    reportHeld(state, limit, hits, limit.accepted);
    limit.held = state.held;
  }
}

/** After a charge there is no verdict: a limit is accepted while it is not exceeded. */
function reportCharged(group: ReservedGroup, states: readonly LedgerState[], first: number): void {
  report(group, states, first);
  for (const limit of group.limits) {
    limit.accepted = limit.used <= capOf(limit);
    if (!limit.accepted) group.accepted = false;
  }
}

/** The greatest number of hits in use. */
export function capOf({ algorithm, limit, burst }: AcquireLimit): number {
  return algorithm.name === "token_bucket" && limit > 0 ? burst : limit;
}

function clear(groups: readonly ReservedGroup[], states: readonly LedgerState[]): void {
  let at = 0;
  for (const { limits } of groups)
    for (const limit of limits) {
      const state = states[at++]!;
      if (!state.changed || !limit.algorithm.isUnused(state, limit)) continue;
      state.at = state.level = state.previous = 0;
    }
}

function areRefused(groups: readonly ReservedGroup[]): boolean {
  return isRefused(groups, (index) => !groups[index]!.accepted);
}

/**
 * The hits that a reservation holds: not more than a share of the smallest limit, so that a first guess above a small
 * limit does not lock its caller out.
 * @param fraction `RESERVATION_MAX_FRACTION`
 */
export function holdOf(amount: number, smallestLimit: number, fraction: number): number {
  return Math.min(amount, Math.max(1, Math.floor(smallestLimit * fraction)));
}

/** Lets a store settle a request. @throws {StoreError} UNSUPPORTED if it keeps no holds, and like `settle` */
export function settleFrom(store: CounterStore, request: ReservationRequest): void | Promise<void> {
  const { settle } = store as Partial<ReservationStore>;
  if (settle !== undefined) return settle.call(store, request);
  throw new StoreError("UNSUPPORTED", `the ${store.kind} store keeps no reservations`);
}

/** The same for a waiter. */
export function settleFor(store: CounterStore, request: ReservationRequest, waiter: Waiter): boolean {
  const { settleFor: own } = store as Partial<ReservationStore>;
  return own?.call(store, request, waiter) ?? whenAnswered(settleFrom(store, request), waiter);
}

/** The greatest amount of a call. */
export const MAX_AMOUNT = MAX_COUNT;
