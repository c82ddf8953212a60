/** Overrides and grants as sentences. */
import type { Match } from "../rules/rule.ts";
import { limitsOfRule, overriddenRule, recordName } from "./overridden-rule.ts";
import type { AdjustmentRecord } from "./record.ts";

/**
 * Describes the effect of each record on a match: `limit 1000, raised to 1500 until 18:00 by override acme of alice`.
 * @param match from the rules, without overrides
 */
export function adjustmentNotes(match: Match, records: readonly AdjustmentRecord[], now: number): string[] {
  if (match.sharedValues !== undefined) return [];
  return limitsOfRule(match.rule).flatMap((limit, index) => {
    const own = records.filter((record) => record.limit === recordName(limit));
    if (own.length === 0) return [];
    const changed = overriddenRule(match.rule, own);
    const after = limitsOfRule(changed)[index];
    const isUnlimited =
      after === undefined || own.some((record) => record.kind === "override" && record.unlimited);
    const before = limit.requestsPerUnit;
    const name = recordName(limit);
    const what = `${name === undefined ? "" : `${name}: `}limit ${before}`;
    const effect = isUnlimited
      ? "lifted"
      : `${effectOf(before, after!.requestsPerUnit)}${limit.algorithm !== "token_bucket" || after!.burst === limit.burst ? "" : ` (burst ${after!.burst})`}`;
    return [`${what}, ${effect} ${own.map((record) => authorship(record, now)).join(" and ")}`];
  });
}

function effectOf(before: number, after: number): string {
  if (after === before) return `kept at ${after}`;
  return `${after > before ? "raised" : "lowered"} to ${after}`;
}

function authorship(record: AdjustmentRecord, now: number): string {
  const { kind, id, expires, by, reason } = record;
  const end = expires === undefined ? "" : `until ${endText(expires, now)} `;
  const what = kind === "grant" ? `a grant of ${record.hits} from ${by}` : `override ${id} of ${by}`;
  return `${end}by ${what}${reason === undefined ? "" : ` (${reason})`}`;
}

/** The time, and the date unless it is today. UTC. */
function endText(expires: number, now: number): string {
  const [day, time = ""] = new Date(expires).toISOString().split("T");
  const [today] = new Date(now).toISOString().split("T");
  const short = time.replace(/(?::00)?\.000Z$|\.\d+Z$/, "");
  return day === today ? `${short} UTC` : `${day} ${short} UTC`;
}
