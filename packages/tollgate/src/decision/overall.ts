import { Refuses } from "../counters/store.ts";
import { Code, type DescriptorStatus } from "../protocol/messages.ts";
import type { Resolution } from "./prepared.ts";

/**
 * The overall code: OVER_LIMIT if any ordinary descriptor is over, or if there are quota descriptors and all of them
 * are over. Unlimited descriptors are ignored.
 * @param quotaMode `QUOTA_MODE`: every descriptor is a quota descriptor; one without a rule passes
 */
export function overallCode(
  statuses: readonly DescriptorStatus[],
  parts: readonly RulePart[],
  quotaMode: boolean,
): Code {
  let quotas = 0;
  let quotasOver = 0;
  for (let index = 0; index < statuses.length; index++) {
    const { rule } = parts[index]!.resolution;
    if (rule?.unlimited) continue;
    const over = statuses[index]!.code === Code.OVER_LIMIT;
    if (quotaMode || rule?.quotaMode) {
      quotas++;
      if (over) quotasOver++;
    } else if (over) return Code.OVER_LIMIT;
  }
  return quotas > 0 && quotasOver === quotas ? Code.OVER_LIMIT : Code.OK;
}

/** The part of a descriptor that decides its code. */
interface RulePart {
  readonly resolution: Pick<Resolution, "rule">;
}

/**
 * Whether each descriptor refuses the request when it exceeds its limit, consistent with {@link overallCode}. Quota
 * descriptors refuse only together, and never beside a quota descriptor that always passes. `SHADOW_MODE` has no effect
 * here.
 */
export function refusals(parts: readonly RulePart[], quotaMode: boolean): Refuses[] {
  const passes = quotaPasses(parts, quotaMode);
  return parts.map((part) => {
    const refuses = refusalOf(part, quotaMode);
    return refuses === Refuses.TOGETHER && passes ? Refuses.NEVER : refuses;
  });
}

/** Whether a quota descriptor of the request always passes. */
export function quotaPasses(parts: readonly RulePart[], quotaMode: boolean): boolean {
  for (let index = 0; index < parts.length; index++) {
    const { rule } = parts[index]!.resolution;
    const isQuota = quotaMode || rule?.quotaMode;
    if (isQuota && !rule?.unlimited && (rule === undefined || rule.shadowMode)) return true;
  }
  return false;
}

/**
 * {@link refusals} of one descriptor, unless a quota descriptor passes: without an array, a decision on a new key allocates
 * 390 bytes less.
 */
export function refusalOf({ resolution: { rule } }: RulePart, quotaMode: boolean): Refuses {
  if (rule === undefined || rule.unlimited || rule.shadowMode) return Refuses.NEVER;
  return quotaMode || rule.quotaMode ? Refuses.TOGETHER : Refuses.ALWAYS;
}
