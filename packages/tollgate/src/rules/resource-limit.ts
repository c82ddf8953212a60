/** An xDS `RateLimitPolicy`, and the fields that Tollgate adds to it. */
import { weekdays } from "./calendar-window.ts";
import type { DraftLimitSettings, Given } from "./draft.ts";
import { algorithmNames, MAX_TOKENS, MAX_WINDOW } from "./limit.ts";
import type { Report } from "./report.ts";
import type { Location } from "./rule.ts";

export interface RateLimitConfigPolicy {
  /** `RateLimitUnit` by number. */
  readonly unit?: number;
  /** uint32 */
  readonly requestsPerUnit?: number;
  readonly unlimited?: boolean;
  readonly name?: string;
  readonly replaces?: readonly { readonly name?: string }[];
  readonly wideRequestsPerUnit?: bigint;
  readonly unitMultiplier?: number;
  /** `RateLimitAlgorithm` by number. */
  readonly algorithm?: number;
  readonly burst?: number;
  /** `RateLimitCount` by number. */
  readonly count?: number;
  readonly strict?: boolean;
  readonly reservations?: boolean;
  readonly calendar?: { readonly timeZone?: string; readonly weekStarts?: number } | undefined;
}

type At = (path: string) => Location;

/** `RateLimitCount` by number. */
const counts = [undefined, "all", "accepted"] as const;

/** `wide_requests_per_unit` if it is set, else `requests_per_unit`. Undefined after a reported fault. */
export function readRequests(
  { requestsPerUnit = 0, wideRequestsPerUnit = 0n }: RateLimitConfigPolicy,
  path: string,
  at: At,
  report: Report,
): number | undefined {
  if (wideRequestsPerUnit === 0n) return requestsPerUnit;
  const place = at(`${path}.wide_requests_per_unit`);
  if (requestsPerUnit > 0) {
    const message = "either `requests_per_unit` or `wide_requests_per_unit` must be 0: set one of them";
    report.add("bad-number", place, message);
    return undefined;
  }
  if (wideRequestsPerUnit <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(wideRequestsPerUnit);
  const message = `\`wide_requests_per_unit\` must be at most ${Number.MAX_SAFE_INTEGER}: ${wideRequestsPerUnit}`;
  report.add("bad-number", place, message);
  return undefined;
}

/** The settings beyond a number, a unit and a name. Undefined if there are none. */
export function readMore(
  policy: RateLimitConfigPolicy,
  path: string,
  at: At,
  report: Report,
): DraftLimitSettings | undefined {
  const { unitMultiplier = 0, algorithm = 0, burst = 0, count = 0, calendar } = policy;
  const { strict = false, reservations = false } = policy;
  if (!(unitMultiplier || algorithm || burst || count || strict || reservations || calendar))
    return undefined;
  const number = (name: string, value: number, max: number): Given<number> | undefined => {
    if (value === 0) return undefined;
    if (value <= max) return { value, at: at(`${path}.${name}`) };
    report.add("bad-number", at(`${path}.${name}`), `\`${name}\` must be at most ${max}: ${value}`);
    return undefined;
  };
  const named = <Name>(
    field: string,
    value: number,
    names: readonly Name[],
  ): Given<NonNullable<Name>> | undefined => {
    const name = names[value];
    if (name !== undefined && name !== null) return { value: name, at: at(`${path}.${field}`) };
    if (value >= names.length) {
      const message = `unknown \`${field}\` number ${value}: use 0 to ${names.length - 1}`;
      report.add("unknown-name", at(`${path}.${field}`), message);
    }
    return undefined;
  };
  return {
    multiplier: number("unit_multiplier", unitMultiplier, MAX_WINDOW),
    algorithm: named("algorithm", algorithm, algorithmNames),
    burst: number("burst", burst, MAX_TOKENS),
    count: named("count", count, counts),
    strict: strict ? { value: true, at: at(`${path}.strict`) } : undefined,
    reservations: reservations ? { value: true, at: at(`${path}.reservations`) } : undefined,
    calendar: calendar && {
      at: at(`${path}.calendar`),
      timeZone: calendar.timeZone
        ? { value: calendar.timeZone, at: at(`${path}.calendar.time_zone`) }
        : undefined,
      weekStarts: named("calendar.week_starts", calendar.weekStarts ?? 0, weekdays),
    },
  };
}
