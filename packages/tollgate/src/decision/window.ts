import type { Unit } from "../protocol/messages.ts";
import { windowSeconds } from "../protocol/units.ts";

/**
 * The start of the current window, in seconds since the epoch. Windows are aligned to the Unix epoch in UTC: a week
 * starts on a Thursday, a month is 30 days, a year 365.
 */
export function windowStart(nowSeconds: number, unit: Unit): number {
  const size = windowSeconds[unit]!;
  return nowSeconds - (nowSeconds % size);
}

/** Whole seconds until the window ends: from 1 to the window's size. */
export function secondsUntilReset(nowSeconds: number, unit: Unit): number {
  const size = windowSeconds[unit]!;
  return size - (nowSeconds % size);
}
