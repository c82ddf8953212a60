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
