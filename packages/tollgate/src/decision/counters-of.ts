/** The counters of one descriptor, for operators: where each limit's state is, and what it holds now. */
import { acquireFrom } from "../counters/acquire.ts";
import {
  type ReservationStore,
  type ReservedLimit,
  Step,
  settleFrom,
  Verdict,
} from "../counters/reservations.ts";
import type { AcquireGroup, CounterStore } from "../counters/store.ts";
import { HoldBack, Outcome, Refuses, StoreError } from "../counters/store.ts";
import { newRuleStatistics, type Statistics } from "../observe/statistics.ts";
import type { Entry } from "../protocol/messages.ts";
import type { Match } from "../rules/rule.ts";
import type { KeyFormat } from "./key-format.ts";
import type { Mutable } from "./prepared.ts";
import { passing } from "./prepared.ts";
import { plainLimitOf, resolveLimits, stemsOf } from "./resolve-limits.ts";
import type { ResolvedLimit } from "./resolved-limit.ts";

/** One limit of a descriptor with its counter. */
export interface CounterOf {
  readonly resolved: ResolvedLimit;
  readonly state: Mutable<ReservedLimit>;
  /** The whole key in the store. */
  readonly key: string;
}

/** The limits of a match, in order; none if it is unlimited. */
export function countersOf(
  keyFormat: KeyFormat,
  domain: string,
  entries: readonly Entry[],
  match: Match,
  nowSeconds: number,
): readonly CounterOf[] {
  const { rule } = match;
  if (rule.unlimited) return [];
  const isPlain = rule.limits === undefined;
  const limits = isPlain ? [plainLimit(match)] : resolveLimits(noStatistics, match, 1);
  const stems = isPlain
    ? [keyFormat(domain, entries, match, rule.unit)]
    : stemsOf(keyFormat, domain, entries, match);
  return limits.map((resolved, index) => counterOf(resolved, stems[index]!, nowSeconds));
}

function plainLimit({ rule }: Match): ResolvedLimit {
  const { requestsPerUnit, unit, name } = rule;
  return plainLimitOf({ ...passing, rule, currentLimit: { requestsPerUnit, unit, name } });
}

function counterOf(resolved: ResolvedLimit, stem: string, nowSeconds: number): CounterOf {
  const { limit, algorithm } = resolved;
  const windowStart = algorithm.perWindow ? limit.window.startOf(nowSeconds) : 0;
  const state = {
    stem,
    algorithm,
    limit: limit.requestsPerUnit,
    burst: limit.burst,
    windowStart,
    windowSize: limit.window.size,
    accepted: true,
    used: 0,
    remaining: 0,
    reset: 0,
    homeStart: windowStart,
    held: 0,
  };
  return { resolved, state, key: algorithm.perWindow ? `${stem}${windowStart}` : stem };
}

/**
 * Reads the counters of one descriptor with their open holds, and fills in the reports of their limits. Changes nothing.
 * @param store without a failure policy
 * @throws {StoreError}
 */
export async function readCountersWithHolds(
  store: CounterStore,
  counters: readonly CounterOf[],
  now: number,
): Promise<void> {
  if (counters.length === 0) return;
  if ((store as Partial<ReservationStore>).settle === undefined) return readCounters(store, [counters], now);
  const limits = counters.map(({ state }) => state);
  const common = { hits: 0, refuses: Refuses.NEVER, outcome: Outcome.COUNTED, accepted: true };
  await settleFrom(store, {
    step: Step.LOOK,
    groups: [{ ...common, limits, lead: 0, released: 0, expired: 0, restored: 0 }],
    token: undefined,
    ttl: 0,
    maxHolds: 0,
    now,
    deadline: 0,
    verdict: Verdict.OK,
    released: false,
    repeated: false,
  });
}

/**
 * Reads the counters of several descriptors, and fills in the reports of their limits. Counts nothing.
 * @param store without a failure policy
 * @throws {StoreError}
 */
export async function readCounters(
  store: CounterStore,
  descriptors: readonly (readonly CounterOf[])[],
  now: number,
): Promise<void> {
  const groups = descriptors
    .filter((counters) => counters.length > 0)
    .map(
      (counters): AcquireGroup => ({
        limits: counters.map(({ state }) => state),
        hits: 0,
        refuses: Refuses.NEVER,
        outcome: Outcome.COUNTED,
        accepted: true,
      }),
    );
  if (groups.length === 0) return;
  await acquireFrom(store, { groups, holdBack: HoldBack.NEVER, now, deadline: 0 });
  const answered = groups.every(({ outcome }) => outcome === Outcome.COUNTED);
  if (!answered) throw new StoreError("STORE_UNAVAILABLE", "the store has not answered");
}

const nothing = newRuleStatistics();

const noStatistics: Pick<Statistics, "rule"> = { rule: () => nothing };
