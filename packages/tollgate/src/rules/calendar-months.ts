/** `USE_CALENDAR_MONTH_RATE_LIMIT`. */
import { Unit } from "../protocol/messages.ts";
import type { DraftDescriptor, DraftLimit } from "./draft.ts";

/** Gives a calendar in UTC to every fixed window of one month that has no calendar of its own. */
export function withCalendarMonths(descriptor: DraftDescriptor): DraftDescriptor {
  const { limit, limits, descriptors } = descriptor;
  return {
    ...descriptor,
    limit: limit && inLimit(limit),
    ...(limits && { limits: { ...limits, items: limits.items.map(inLimit) } }),
    descriptors: descriptors.map(withCalendarMonths),
  };
}

function inLimit(limit: DraftLimit): DraftLimit {
  const { unit, unlimited, more, at } = limit;
  const isFixed = (more?.algorithm?.value ?? "fixed_window") === "fixed_window";
  const isOne = (more?.multiplier?.value ?? 1) === 1;
  if (unit !== Unit.MONTH || unlimited === true || more?.calendar !== undefined || !isFixed || !isOne)
    return limit;
  return { ...limit, more: { ...more, calendar: { at, timeZone: undefined, weekStarts: undefined } } };
}
