import { Refuses } from "../counters/store.ts";
import { Code, type DescriptorStatus } from "../protocol/messages.ts";
import type { PreparedPart } from "./prepare.ts";

/**
 * The overall code: OVER_LIMIT when any ordinary descriptor is over, or when there are quota descriptors and every
 * one of them is over. Unlimited descriptors take no part.
 * @param quotaMode `QUOTA_MODE`: every descriptor is a quota descriptor, and one without a rule is one that passed
 */
export function overallCode(
  statuses: readonly DescriptorStatus[],
  parts: readonly Pick<PreparedPart, "rule">[],
  quotaMode: boolean,
): Code {
  let quotas = 0;
  let quotasOver = 0;
  for (let index = 0; index < statuses.length; index++) {
    const rule = parts[index]!.rule;
    if (rule?.unlimited) continue;
    const over = statuses[index]!.code === Code.OVER_LIMIT;
    if (quotaMode || rule?.quotaMode) {
      quotas++;
      if (over) quotasOver++;
    } else if (over) return Code.OVER_LIMIT;
  }
  return quotas > 0 && quotasOver === quotas ? Code.OVER_LIMIT : Code.OK;
}

/**
 * Whether each descriptor refuses the request when it exceeds its limit, as {@link overallCode} has it. Quota
 * descriptors refuse together only, and not at all beside one that always passes. `SHADOW_MODE` changes nothing here.
 */
export function refusals(parts: readonly Pick<PreparedPart, "rule">[], quotaMode: boolean): Refuses[] {
  const limited = parts.filter(({ rule }) => !rule?.unlimited);
  const isQuota = ({ rule }: Pick<PreparedPart, "rule">) => quotaMode || rule?.quotaMode;
  const quotaPasses = limited.some(
    (part) => isQuota(part) && (part.rule === undefined || part.rule.shadowMode),
  );
  return parts.map((part) => {
    const { rule } = part;
    if (rule === undefined || rule.unlimited || rule.shadowMode) return Refuses.NEVER;
    if (!isQuota(part)) return Refuses.ALWAYS;
    return quotaPasses ? Refuses.NEVER : Refuses.TOGETHER;
  });
}
