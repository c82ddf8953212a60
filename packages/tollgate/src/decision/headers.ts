import {
  Code,
  type DescriptorStatus,
  type HeaderValue,
  type RateLimitResponse,
} from "../protocol/messages.ts";
import { windowSeconds } from "../protocol/units.ts";
import type { Rule } from "../rules/rule.ts";

/** Options of the response headers that show the limit to an end user. */
export interface HeaderOptions {
  /** `contract`: three headers for the tightest limit; `draft-10`: the IETF draft's two fields, with every limit. */
  readonly format: "contract" | "draft-10";
  /** The configured names; only the `contract` format uses them. */
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
}

/** The name of a limit in response headers: the rule's name, or else its path. */
export function nameOf({ rule }: { readonly rule: Rule | undefined }): string {
  return rule === undefined ? "" : rule.name || [rule.domain, ...rule.path].join(".");
}

/** The tightest limit: one that is exceeded, or else the one with the least remaining; the first of equals. */
function tightest(statuses: readonly DescriptorStatus[]): DescriptorStatus | undefined {
  let best: DescriptorStatus | undefined;
  for (const status of statuses) {
    if (status.currentLimit === undefined) continue;
    if (best === undefined) best = status;
    else if (status.code === best.code ? status.limitRemaining < best.limitRemaining : isOver(status)) {
      best = status;
    }
  }
  return best;
}

function isOver(status: DescriptorStatus): boolean {
  return status.code === Code.OVER_LIMIT;
}

/** `RateLimit-Limit: 10`, `RateLimit-Remaining: 4` and, if the reset is known, `RateLimit-Reset: 55`, in this order. */
function contractHeaders(statuses: readonly DescriptorStatus[], options: HeaderOptions): HeaderValue[] {
  const chosen = tightest(statuses);
  if (chosen?.currentLimit === undefined) return [];
  const headers = [
    { key: options.limit, value: String(chosen.currentLimit.requestsPerUnit) },
    { key: options.remaining, value: String(chosen.limitRemaining) },
  ];
  if (chosen.durationUntilReset > 0) {
    headers.push({ key: options.reset, value: String(chosen.durationUntilReset) });
  }
  return headers;
}

/** A structured field string (RFC 9651, section 3.3.3): visible ASCII. Replaces all other characters. */
function structuredString(text: string): string {
  return `"${text.replace(/[^\x20-\x7e]/g, "?").replace(/["\\]/g, "\\$&")}"`;
}

/**
 * `RateLimit-Policy: "name";q=10;w=60` and `RateLimit: "name";r=4;t=55`, one item for each limit, and `Retry-After` if
 * the request is refused. Source: draft-ietf-httpapi-ratelimit-headers-10.
 * @param names one for each status: the rule's name, or else its path
 * @param sizes the length of each window in seconds, if the unit and its multiplier do not give it
 */
function draftHeaders(
  statuses: readonly DescriptorStatus[],
  names: readonly string[],
  refused: boolean,
  sizes: readonly number[] | undefined,
): HeaderValue[] {
  const policies: string[] = [];
  const limits: string[] = [];
  let retryAfter = 0;
  statuses.forEach((status, index) => {
    if (status.currentLimit === undefined) return;
    const name = structuredString(names[index]!);
    const { requestsPerUnit, unit, unitMultiplier = 1 } = status.currentLimit;
    const size = sizes?.[index] ?? windowSeconds[unit]! * unitMultiplier;
    policies.push(`${name};q=${requestsPerUnit};w=${size}`);
    const reset = status.durationUntilReset;
    limits.push(`${name};r=${status.limitRemaining}${reset > 0 ? `;t=${reset}` : ""}`);
    if (isOver(status) && reset > retryAfter) retryAfter = reset;
  });
  if (policies.length === 0) return [];
  const headers = [
    { key: "RateLimit-Policy", value: policies.join(", ") },
    { key: "RateLimit", value: limits.join(", ") },
  ];
  if (refused && retryAfter > 0) headers.push({ key: "Retry-After", value: String(retryAfter) });
  return headers;
}

/** The headers of a response; empty if no descriptor has a limit. */
export function limitHeaders(
  options: HeaderOptions,
  statuses: readonly DescriptorStatus[],
  names: readonly string[],
  overallCode: RateLimitResponse["overallCode"],
  sizes?: readonly number[],
): HeaderValue[] {
  return options.format === "contract"
    ? contractHeaders(statuses, options)
    : draftHeaders(statuses, names, overallCode === Code.OVER_LIMIT, sizes);
}
