/**
 * Decides groups of limits whose states are known: all or nothing for each group, and the rule of
 * `STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT` between groups. The embedded store and the model of the tests call it. The
 * scripts of the key-value store do the same.
 */
import type { Algorithm, LimitState, Quota } from "./algorithms/algorithm.ts";
import { isRefused } from "./hold-back.ts";
import {
  type AcquireGroup,
  type AcquireLimit,
  type AcquireRequest,
  type CounterStore,
  HoldBack,
  Outcome,
  StoreError,
  type Waiter,
  whenAnswered,
} from "./store.ts";

/** The state of one counter of a request. Limits with the same key share one object. */
export interface CounterState extends LimitState {
  /** Result: whether the store must write the state. */
  changed: boolean;
  /** A limit with this state refuses hits of the request. */
  exceeds: boolean;
  /** Hits that open holds take of the limit: see `reservations.ts`. 0 for limits whose decisions ignore them. */
  held: number;
  /** The advanced state before the request. */
  levelBefore: number;
  previousBefore: number;
}

/** The whole key of a limit's counter. */
export function keyOf({ stem, algorithm, windowStart }: AcquireLimit): string {
  return algorithm.perWindow ? stem + windowStart : stem;
}

/** A state for `acquireTogether`. Without an argument: of a counter that is not stored. */
export function newCounterState(stored: Partial<LimitState> = {}): CounterState {
  return {
    at: 0,
    level: 0,
    previous: 0,
    changed: false,
    exceeds: false,
    held: 0,
    levelBefore: 0,
    previousBefore: 0,
    ...stored,
  };
}

/**
 * Decides a request and fills in its results. No other caller may change the states meanwhile.
 * @param states one for each limit, in the order of the groups and their limits
 * @param now microseconds since the epoch
 * @param windowNow the same for limits with a state for each window, whose windows the caller computed. Default `now`.
 * @returns whether groups are held back
 */
export function acquireTogether(
  { groups, holdBack }: Pick<AcquireRequest, "groups" | "holdBack">,
  states: readonly CounterState[],
  now: number,
  windowNow = now,
): boolean {
  let at = 0;
  for (const { limits } of groups)
    for (const limit of limits) begin(states[at++]!, limit, limit.algorithm.perWindow ? windowNow : now);
  at = 0;
  for (const group of groups) {
    decide(group, states, at);
    at += group.limits.length;
  }
  const isHolding = isHeld(groups, holdBack);
  if (isHolding) hold(groups, states);
  at = 0;
  for (const { limits } of groups)
    for (const limit of limits) {
      const state = states[at++]!;
      if (state.changed) clearUnused(state, limit);
    }
  return isHolding;
}

/** Takes back all changes, and makes those again that are not held back. */
function hold(groups: readonly AcquireGroup[], states: readonly CounterState[]): void {
  for (const state of states) {
    state.level = state.levelBefore;
    state.previous = state.previousBefore;
    state.changed = false;
  }
  let at = 0;
  for (const group of groups) {
    const own = states.slice(at, at + group.limits.length);
    const counts = group.hits < 0 || own.some((state) => state.exceeds);
    if (!counts) group.outcome = Outcome.HELD;
    take(group, states, at, counts);
    at += group.limits.length;
  }
}

/** An unused state is the same as no state, so that a store need not keep it. */
function clearUnused(state: LimitState, limit: Quota & { readonly algorithm: Algorithm }): void {
  if (!limit.algorithm.isUnused(state, limit)) return;
  state.at = 0;
  state.level = 0;
  state.previous = 0;
}

/** Advances a state. A counter that occurs twice is advanced twice, which changes nothing. */
export function begin(state: CounterState, limit: AcquireLimit, now: number): void {
  limit.algorithm.advance(state, limit, now);
  state.changed = false;
  state.exceeds = false;
  state.levelBefore = state.level;
  state.previousBefore = state.previous;
}

function decide(group: AcquireGroup, states: readonly CounterState[], first: number): void {
  const { limits, hits } = group;
  group.outcome = Outcome.COUNTED;
  group.accepted = true;
  for (let index = 0; index < limits.length; index++) {
    const limit = limits[index]!;
    const state = states[first + index]!;
    limit.accepted = hits < 0 || fits(state, limit, hits);
    if (limit.accepted) continue;
    group.accepted = false;
    state.exceeds = true;
  }
  take(group, states, first, true);
}

/** Applies the hits of a group, and reports its states. */
function take(group: AcquireGroup, states: readonly CounterState[], first: number, counts: boolean): void {
  const { limits, hits, accepted } = group;
  for (let index = 0; index < limits.length; index++) {
    const limit = limits[index]!;
    const { algorithm } = limit;
    const state = states[first + index]!;
    if (counts && hits !== 0 && (accepted || algorithm.countsRefused)) {
      algorithm.apply(state, limit, hits);
      state.changed = true;
    }
    reportHeld(state, limit, hits, limit.accepted);
  }
}

/** Whether an advanced state accepts hits beside its open holds. */
export function fits(state: CounterState, limit: AcquireLimit, hits: number): boolean {
  const { algorithm } = limit;
  if (state.held === 0) return algorithm.accepts(state, limit, hits);
  // A look asks for one hit, except in a plain fixed window.
  const needed = algorithm.countsRefused ? hits : Math.max(hits, 1);
  return algorithm.accepts(state, limit, needed + state.held);
}

/** Fills in the report of a limit. Hits of open holds are in use. */
export function reportHeld(state: CounterState, limit: AcquireLimit, hits: number, accepted: boolean): void {
  const { algorithm } = limit;
  const { held } = state;
  algorithm.report(state, limit, hits < 0 ? hits : hits + held, accepted, limit);
  if (held === 0) return;
  limit.used += held;
  limit.remaining = Math.max(limit.remaining - held, 0);
}

/** Whether the verdicts hold back the groups that accept. */
function isHeld(groups: readonly AcquireGroup[], holdBack: HoldBack): boolean {
  if (holdBack === HoldBack.NEVER) return false;
  return holdBack === HoldBack.ALWAYS || isRefused(groups, (index) => !groups[index]!.accepted);
}

/**
 * Decides a group of one limit that nothing holds back: {@link acquireTogether} without its lists.
 * @param state as stored; all 0 if the counter is not stored
 * @param now microseconds since the epoch
 * @returns whether the store must write the state
 */
export function acquireAlone(
  group: AcquireGroup,
  limit: AcquireLimit,
  state: LimitState,
  now: number,
): boolean {
  const { algorithm } = limit;
  const { hits } = group;
  algorithm.advance(state, limit, now);
  const accepted = hits < 0 || algorithm.accepts(state, limit, hits);
  const counts = hits !== 0 && (accepted || algorithm.countsRefused);
  if (counts) algorithm.apply(state, limit, hits);
  limit.accepted = accepted;
  group.accepted = accepted;
  group.outcome = Outcome.COUNTED;
  algorithm.report(state, limit, hits, accepted, limit);
  if (counts) clearUnused(state, limit);
  return counts;
}

/**
 * Decides hits of several limits with different keys that nothing holds back, and that never count refused hits: a list.
 * Like {@link acquireTogether} without its lists.
 * @param counters one for each limit, with its state as stored; all 0 if the counter is not stored
 * @param group its results; undefined if nobody reads them
 * @param now microseconds since the epoch
 * @param windowNow the same for limits with a state for each window
 */
export function acquireList(
  counters: readonly {
    readonly state: CounterState;
    readonly quota: Quota & { readonly algorithm: Algorithm };
  }[],
  hits: number,
  group: AcquireGroup | undefined,
  now: number,
  windowNow: number,
): void {
  let accepted = true;
  for (let index = 0; index < counters.length; index++) {
    const { state, quota } = counters[index]!;
    const { algorithm } = quota;
    algorithm.advance(state, quota, algorithm.perWindow ? windowNow : now);
    state.exceeds = hits >= 0 && !algorithm.accepts(state, quota, hits);
    if (state.exceeds) accepted = false;
  }
  const counts = accepted && hits !== 0;
  for (let index = 0; index < counters.length; index++) {
    const { state, quota } = counters[index]!;
    const { algorithm } = quota;
    if (counts) algorithm.apply(state, quota, hits);
    if (group !== undefined) {
      const limit = group.limits[index]!;
      limit.accepted = !state.exceeds;
      algorithm.report(state, limit, hits, limit.accepted, limit);
    }
    if (counts) clearUnused(state, quota);
  }
  if (group === undefined) return;
  group.accepted = accepted;
  group.outcome = Outcome.COUNTED;
}

/** Lets a store decide a request. @throws {StoreError} if it supports plain fixed windows only, and like `acquire` */
export function acquireFrom(store: CounterStore, request: AcquireRequest): void | Promise<void> {
  if (store.acquire !== undefined) return store.acquire(request);
  // The loader refuses rules that the store does not support.
  throw new StoreError("STORE_UNAVAILABLE", `the ${store.kind} store supports plain fixed windows only`);
}

/** Decides in any store as {@link CounterStore.acquireFor} does. */
export function acquireFor(store: CounterStore, request: AcquireRequest, waiter: Waiter): boolean {
  return store.acquireFor?.(request, waiter) ?? whenAnswered(acquireFrom(store, request), waiter);
}

/** A request's instant in microseconds. */
export function microsecondsOf({ now }: Pick<AcquireRequest, "now">): number {
  return now * 1000;
}
