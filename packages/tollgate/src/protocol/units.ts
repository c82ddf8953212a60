import { Unit } from "./messages.ts";

/** Seconds in one window, by the unit's number; 0 for UNKNOWN. Months are 30 days and years 365: windows align to the epoch. */
export const windowSeconds: readonly number[] = [0, 1, 60, 3600, 86_400, 2_592_000, 31_536_000, 604_800];

/** Names by the unit's number, as the protocol spells them. */
export const unitNames = ["UNKNOWN", "SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "YEAR", "WEEK"] as const;

/** Names by the code's number. */
export const codeNames = ["UNKNOWN", "OK", "OVER_LIMIT"] as const;

/** The unit of a name in any case, or undefined; `unknown` is none. */
export function unitOfName(name: string): Unit | undefined {
  const number = (unitNames as readonly string[]).indexOf(name.toUpperCase());
  return number > 0 ? (number as Unit) : undefined;
}

/** Whether a number from the wire names a window. */
export function isUnit(number: number): number is Exclude<Unit, typeof Unit.UNKNOWN> {
  return Number.isInteger(number) && number > Unit.UNKNOWN && number < unitNames.length;
}
