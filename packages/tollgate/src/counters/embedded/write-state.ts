/** Writes the states of limits to their entries. */
import type { LimitState } from "../algorithms/algorithm.ts";
import type { AcquireLimit } from "../store.ts";
import type { KeyScratch } from "./key.ts";
import type { Lifetime, StateShard } from "./state-shard.ts";

/**
 * The end of an entry is rounded up to this part of its state's length. A state that goes on then moves to a new entry
 * at most twice within its length.
 */
const END_STEP = 1 / 2;

/** Writes the changed state of an entry. @param isHeld whether its counter has open holds */
export function writeState(
  shard: StateShard,
  entry: number,
  limit: AcquireLimit,
  state: LimitState,
  now: number,
  isHeld = false,
): void {
  const { algorithm } = limit;
  const isProtected = !isEmpty(state) && (isHeld || algorithm.isUsedUp(state, limit));
  const end = endOf(limit, state);
  if (shard.endsBefore(entry, end) || !shard.hasRoom(entry, state))
    shard.moveState(entry, lifetimeOf(limit, end), state, isProtected, now);
  else shard.writeState(entry, state, isProtected);
}

/** Adds the entry of a new state, unless it needs none. */
export function insertState(
  shard: StateShard,
  key: KeyScratch,
  limit: AcquireLimit,
  state: LimitState,
  now: number,
  isHeld = false,
): void {
  if (isEmpty(state)) return;
  const { algorithm } = limit;
  const lifetime = lifetimeOf(limit, endOf(limit, state));
  const words = state.previous === 0 ? algorithm.words : 3;
  shard.insertState(key, lifetime, state, words, isHeld || algorithm.isUsedUp(state, limit), now);
}

/** Whether a state is the same as no state. */
function isEmpty({ at, level }: LimitState): boolean {
  return level === 0 && at === 0;
}

function lifetimeOf(limit: AcquireLimit, end: number): Lifetime {
  return { start: limit.windowStart, end, length: limit.algorithm.stateLength(limit) };
}

/** The end of a state's entry, in seconds. 0 for an empty state. */
function endOf(limit: AcquireLimit, state: LimitState): number {
  const { algorithm } = limit;
  if (isEmpty(state)) return 0;
  const end = algorithm.end(state, limit);
  if (algorithm.perWindow) return end;
  const step = Math.max(Math.floor(algorithm.stateLength(limit) * END_STEP), 1);
  return Math.ceil(end / step) * step;
}
