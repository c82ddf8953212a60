/** Turns drafts into the settings of limits. */
import { Unit } from "../protocol/messages.ts";
import { timeZoneName } from "./calendar-window.ts";
import type { DraftDescriptor, DraftLimit } from "./draft.ts";
import type { LimitSettings } from "./limit.ts";

/** The settings of a limit with their defaults. Unreadable fields have a default, too. */
export function settingsOf(limit: DraftLimit, isListed: boolean): LimitSettings {
  const { more, unit, requestsPerUnit, name } = limit;
  const requests = typeof requestsPerUnit === "number" ? requestsPerUnit : 0;
  const algorithm = more?.algorithm?.value ?? "fixed_window";
  const { calendar } = more ?? {};
  return {
    requestsPerUnit: requests,
    unit: typeof unit === "number" ? unit : Unit.UNKNOWN,
    multiplier: more?.multiplier?.value ?? 1,
    algorithm,
    burst: more?.burst?.value ?? requests,
    acceptedOnly: isListed || algorithm !== "fixed_window" || more?.count?.value === "accepted",
    strict: more?.strict?.value ?? false,
    reservations: more?.reservations?.value ?? false,
    calendar: calendar && {
      timeZone: timeZoneOf(calendar.timeZone?.value),
      weekStarts: calendar.weekStarts?.value ?? "monday",
    },
    name,
  };
}

/** Returns the name in its usual letter case, because it is a part of cache keys. */
function timeZoneOf(name = "UTC"): string {
  return timeZoneName(name) ?? name;
}

/** The greatest uint32. An answer shows no larger number. */
const MAX_UINT32 = 0xffff_ffff;

/** The limits of a checked descriptor; empty if it has none, or one with a usual number, a unit and a name only. */
export function limitsOf({ limit, limits }: DraftDescriptor): {
  readonly limits?: { readonly isListed: boolean; readonly items: readonly LimitSettings[] };
} {
  if (limits !== undefined)
    return { limits: { isListed: true, items: limits.items.map((item) => settingsOf(item, true)) } };
  if (limit === undefined || limit.unlimited === true) return {};
  const { more, requestsPerUnit } = limit;
  const isWide = typeof requestsPerUnit === "number" && requestsPerUnit > MAX_UINT32;
  return more === undefined && !isWide
    ? {}
    : { limits: { isListed: false, items: [settingsOf(limit, false)] } };
}
