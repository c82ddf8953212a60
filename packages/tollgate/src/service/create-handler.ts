import type { CounterStore } from "../counters/store.ts";
import { Decider } from "../decision/decide.ts";
import type { DecisionObserver } from "../decision/decision-observer.ts";
import { RateLimitHandler } from "../listeners/rate-limit-handler.ts";
import { ReservationHandler } from "../listeners/reservation-handler.ts";
import type { Logger } from "../observe/log.ts";
import type { Statistics } from "../observe/statistics.ts";
import type { ActiveOverrides } from "../overrides/table.ts";
import { Reservations } from "../reservations/reservations.ts";
import type { RuleSet } from "../rules/rule.ts";
import type { Settings } from "../settings/settings.ts";
import { decisionOptions } from "./settings-to-options.ts";

/** The observer of decisions, and the overrides that apply to them. */
export interface Watched {
  readonly observer: DecisionObserver | undefined;
  readonly overrides: ActiveOverrides | undefined;
}

/** Creates the handler of one thread: a decider over the thread's store, with the limits on requests. */
export function createRateLimitHandler(
  settings: Settings,
  store: CounterStore,
  ruleSet: () => RuleSet | undefined,
  statistics: Statistics,
  log: Logger,
  { observer, overrides }: Watched,
): RateLimitHandler {
  const decider = new Decider({ ...decisionOptions(settings, overrides), observer }, statistics, store);
  const { maxBytes, maxDescriptors, maxEntries, oversized } = settings.requests;
  const requests = {
    bytes: maxBytes,
    limits: { descriptors: maxDescriptors, entries: maxEntries },
    denyOversized: oversized === "deny",
  };
  return new RateLimitHandler({ decider, store, ruleSet, statistics, log, requests });
}

/** Creates the handler of one thread for reservations. */
export function createReservationHandler(
  settings: Settings,
  store: CounterStore,
  ruleSet: () => RuleSet | undefined,
  statistics: Statistics,
  overrides: ActiveOverrides | undefined,
): ReservationHandler {
  const { maxDescriptors, maxEntries } = settings.requests;
  const options = { ...decisionOptions(settings, overrides), ...settings.reservations };
  return new ReservationHandler({
    reservations: new Reservations(options, statistics, store),
    limits: { descriptors: maxDescriptors, entries: maxEntries },
    ruleSet,
  });
}
