/**
 * Windows of a calendar: a window starts at the first instant of its first local date. `Temporal` computes each window
 * once. A day with a change of the time zone's offset is longer or shorter, and a date that a zone skipped has no window.
 */
import { Unit } from "../protocol/messages.ts";
import type { Window } from "./window.ts";

/** The days of a week as `week_starts` names them, Monday first. */
export const weekdays = [
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "saturday",
  "sunday",
] as const;
export type Weekday = (typeof weekdays)[number];

export interface Calendar {
  /** IANA name. */
  readonly timeZone: string;
  readonly weekStarts: Weekday;
}

export type CalendarUnit = typeof Unit.DAY | typeof Unit.WEEK | typeof Unit.MONTH | typeof Unit.YEAR;

export function isCalendarUnit(unit: Unit): unit is CalendarUnit {
  return unit === Unit.DAY || unit === Unit.WEEK || unit === Unit.MONTH || unit === Unit.YEAR;
}

/** Node has `Temporal` from version 26 on. */
export function hasTemporal(): boolean {
  return typeof Temporal === "object";
}

/**
 * The name of a time zone in its usual letter case; undefined if the time zone database does not have it. Offsets
 * (`+01:00`) are not names.
 */
export function timeZoneName(name: string): string | undefined {
  if (!/^[A-Za-z]/.test(name)) return undefined;
  try {
    return new Temporal.ZonedDateTime(0n, name).timeZoneId;
  } catch {
    return undefined;
  }
}

export class CalendarWindow implements Window {
  size = 0;
  #start = 0;
  #end = 0;
  readonly #unit: CalendarUnit;
  readonly #timeZone: string;
  /** 1 for Monday, 7 for Sunday. */
  readonly #weekStart: number;

  constructor(unit: CalendarUnit, { timeZone, weekStarts }: Calendar) {
    this.#unit = unit;
    this.#timeZone = timeZone;
    this.#weekStart = weekdays.indexOf(weekStarts) + 1;
  }

  startOf(seconds: number): number {
    if (seconds < this.#start || seconds >= this.#end) this.#find(seconds);
    return this.#start;
  }

  #find(seconds: number): void {
    const instant = Temporal.Instant.fromEpochMilliseconds(seconds * 1000);
    let first = this.#firstDate(instant.toZonedDateTimeISO(this.#timeZone).toPlainDate());
    let start = this.#startOfDate(first);
    let next = this.#nextDate(first);
    let end = this.#startOfDate(next);
    // After midnight a clock may be set back to the day before. The window of the new day goes on.
    while (end <= seconds) {
      first = next;
      start = end;
      next = this.#nextDate(first);
      end = this.#startOfDate(next);
    }
    this.#start = start;
    this.#end = end;
    this.size = end - start;
  }

  #firstDate(date: Temporal.PlainDate): Temporal.PlainDate {
    if (this.#unit === Unit.WEEK) return date.subtract({ days: (date.dayOfWeek - this.#weekStart + 7) % 7 });
    if (this.#unit === Unit.MONTH) return date.with({ day: 1 });
    return this.#unit === Unit.YEAR ? date.with({ month: 1, day: 1 }) : date;
  }

  #nextDate(first: Temporal.PlainDate): Temporal.PlainDate {
    if (this.#unit === Unit.WEEK) return first.add({ weeks: 1 });
    if (this.#unit === Unit.MONTH) return first.add({ months: 1 });
    return this.#unit === Unit.YEAR ? first.add({ years: 1 }) : first.add({ days: 1 });
  }

  /** The first instant of a local date; of a skipped date: of the date after it. */
  #startOfDate(date: Temporal.PlainDate): number {
    return Math.floor(date.toZonedDateTime(this.#timeZone).epochMilliseconds / 1000);
  }
}
