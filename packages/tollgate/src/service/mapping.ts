import type { DecisionOptions } from "../decision/decide.ts";
import type { Settings } from "../settings/settings.ts";

/** What the decision is told of the settings. */
export function decisionOptions({ decision }: Settings): DecisionOptions {
  return {
    cacheKeyPrefix: decision.cacheKeyPrefix,
    nearLimitRatio: decision.nearLimitRatio,
    shadowMode: decision.shadowMode,
    quotaMode: decision.quotaMode,
    stopIncrementing: decision.stopIncrementing,
    dynamicMetadata: decision.dynamicMetadata,
    headers: decision.headers,
  };
}
