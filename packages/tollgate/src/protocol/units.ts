import { Unit } from "./messages.ts";

/** Seconds in a window, by the unit's number; 0 for UNKNOWN. A month is 30 days and a year 365, because windows are aligned to the epoch. */
export const windowSeconds: readonly number[] = [0, 1, 60, 3600, 86_400, 2_592_000, 31_536_000, 604_800];

/** The protocol's names, by the unit's number. */
export const unitNames = ["UNKNOWN", "SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "YEAR", "WEEK"] as const;

/** The protocol's names, by the code's number. */
export const codeNames = ["UNKNOWN", "OK", "OVER_LIMIT"] as const;

/** The unit of a name in any letter case. Undefined for other names and for `unknown`. */
export function unitOfName(name: string): Unit | undefined {
  const number = (unitNames as readonly string[]).indexOf(name.toUpperCase());
  return number > 0 ? (number as Unit) : undefined;
}

/** The length of a window for people: `minute`, or `15 minutes`. */
export function periodText(unit: Unit, multiplier = 1): string {
  const name = unitNames[unit].toLowerCase();
  return multiplier === 1 ? name : `${multiplier} ${name}s`;
}

/** Whether a number from the wire is a unit other than UNKNOWN. */
export function isUnit(number: number): number is Exclude<Unit, typeof Unit.UNKNOWN> {
  return Number.isInteger(number) && number > Unit.UNKNOWN && number < unitNames.length;
}
