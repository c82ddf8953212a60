import type { CounterStore } from "../counters/store.ts";
import { Decider } from "../decision/decide.ts";
import type { DecisionObserver } from "../decision/decision-observer.ts";
import { RateLimitHandler } from "../listeners/rate-limit-handler.ts";
import type { Logger } from "../observe/log.ts";
import type { Statistics } from "../observe/statistics.ts";
import type { RuleSet } from "../rules/rule.ts";
import type { Settings } from "../settings/settings.ts";
import { decisionOptions } from "./settings-to-options.ts";

/** Creates the handler of one thread: a decider over the thread's store, with the limits on requests. */
export function createRateLimitHandler(
  settings: Settings,
  store: CounterStore,
  ruleSet: () => RuleSet | undefined,
  statistics: Statistics,
  log: Logger,
  observer: DecisionObserver | undefined,
): RateLimitHandler {
  const decider = new Decider({ ...decisionOptions(settings), observer }, statistics, store);
  const { maxBytes, maxDescriptors, maxEntries, oversized } = settings.requests;
  const requests = {
    bytes: maxBytes,
    limits: { descriptors: maxDescriptors, entries: maxEntries },
    denyOversized: oversized === "deny",
  };
  return new RateLimitHandler({ decider, store, ruleSet, statistics, log, requests });
}
