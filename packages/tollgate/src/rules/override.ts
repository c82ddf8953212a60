import type { Entry, LimitOverride, Unit } from "../protocol/messages.ts";
import { createLimit, type Limit } from "./limit.ts";
import { requestSegment, shownLevels } from "./metric-key.ts";
import type { Match } from "./rule.ts";

const none: readonly string[] = Object.freeze([]);

/**
 * Creates the match of a descriptor with its own limit. The limit and the whole metric key come from the request, not
 * from configured rules. The caller must have checked the unit and its multiplier.
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
      limits: limitsOf(limit),
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

/** A fixed window that is several units long. */
function limitsOf({
  requestsPerUnit,
  unit,
  unitMultiplier = 1,
}: LimitOverride): readonly Limit[] | undefined {
  if (unitMultiplier === 1) return undefined;
  const settings = {
    requestsPerUnit,
    unit: unit as Unit,
    multiplier: unitMultiplier,
    algorithm: "fixed_window",
    burst: requestsPerUnit,
    acceptedOnly: false,
    strict: false,
    reservations: false,
    calendar: undefined,
    name: "",
  } as const;
  return [createLimit(settings, false)];
}
