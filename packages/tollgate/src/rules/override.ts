import type { Entry, LimitOverride, Unit } from "../protocol/messages.ts";
import { requestSegment, shownLevels } from "./metric-key.ts";
import type { Match } from "./rule.ts";

const none: readonly string[] = Object.freeze([]);

/**
 * The match of a descriptor that brings its own limit: the numbers are the request's, and so is the whole metric key.
 * Configured rules play no part. The unit must be known already.
 */
export function overrideMatch(domain: string, entries: readonly Entry[], limit: LimitOverride): Match {
  const levels = shownLevels(entries.length, (index) => requestSegment(entries[index]!));
  return {
    rule: {
      domain,
      path: levels,
      requestsPerUnit: limit.requestsPerUnit,
      unit: limit.unit as Unit,
      unlimited: false,
      shadowMode: false,
      quotaMode: false,
      name: "",
      replaces: none,
      metadata: undefined,
      detailedMetric: false,
      valueToMetric: false,
      shareThreshold: false,
      location: undefined,
    },
    metricKey: { domain, levels },
    metricFromRequest: true,
    sharedValues: undefined,
  };
}
