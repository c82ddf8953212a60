import type { Entry, LimitOverride, Unit } from "../protocol/messages.ts";
import { requestSegment, shownLevels } from "./metric-key.ts";
import type { Match } from "./rule.ts";

const none: readonly string[] = Object.freeze([]);

/**
 * Creates the match of a descriptor with its own limit. The limit and the whole metric key come from the request, not
 * from configured rules. The caller must have checked the unit.
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
