/** Fifty years of calendar windows in zones with every kind of change, against `Temporal` read instant by instant. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { Unit } from "../protocol/messages.ts";
import {
  type CalendarUnit,
  CalendarWindow,
  timeZoneName,
  type Weekday,
  weekdays,
} from "./calendar-window.ts";

/**
 * Berlin: an hour forward and back. New York: the same on other dates. Apia: skipped 2011-12-30. Lord Howe: half an hour.
 * Sao Paulo: changes at midnight, so some days begin at 01:00.
 */
const zones = [
  "Europe/Berlin",
  "America/New_York",
  "Pacific/Apia",
  "Australia/Lord_Howe",
  "America/Sao_Paulo",
];
const from = Date.UTC(1990, 0, 1) / 1000;
const to = Date.UTC(2040, 0, 1) / 1000;

function dateAt(seconds: number, zone: string): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(seconds * 1000)
    .toZonedDateTimeISO(zone)
    .toPlainDate();
}

/** A text that all dates of a window share, and no others. Derived from the date alone. */
function periodOf(date: Temporal.PlainDate, unit: CalendarUnit, weekStarts: Weekday): string {
  if (unit === Unit.DAY) return date.toString();
  if (unit === Unit.MONTH) return date.toPlainYearMonth().toString();
  if (unit === Unit.YEAR) return String(date.year);
  let day = date;
  while (weekdays[day.dayOfWeek - 1] !== weekStarts) day = day.subtract({ days: 1 });
  return day.toString();
}

const units: [string, CalendarUnit, Weekday][] = [
  ["days", Unit.DAY, "monday"],
  ["weeks from Monday", Unit.WEEK, "monday"],
  ["weeks from Sunday", Unit.WEEK, "sunday"],
  ["months", Unit.MONTH, "monday"],
  ["years", Unit.YEAR, "monday"],
];

describe("calendar windows from 1990 to 2040", () => {
  for (const zone of zones)
    for (const [name, unit, weekStarts] of units)
      test(`${zone}: ${name} follow each other, and change exactly when the local date leaves the period`, () => {
        const window = new CalendarWindow(unit, { timeZone: zone, weekStarts });
        const period = (seconds: number) => periodOf(dateAt(seconds, zone), unit, weekStarts);
        let start = window.startOf(from);
        while (start < to) {
          assert.equal(window.startOf(start), start);
          const end = start + window.size;
          const own = period(start);
          assert.notEqual(period(start - 1), own, `the second before ${start}`);
          assert.equal(period(end - 1), own, `the last second before ${end}`);
          assert.notEqual(period(end), own);
          // From both sides, as callers of several threads and clocks ask.
          assert.equal(window.startOf(end - 1), start);
          assert.equal(window.startOf(end), end);
          start = end;
        }
      });

  test("any instant lies in its window, after any earlier calls", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.constantFrom(...units),
        fc.array(fc.integer({ min: from, max: to }), { minLength: 1, maxLength: 10 }),
        (zone, [, unit, weekStarts], instants) => {
          const window = new CalendarWindow(unit, { timeZone: zone, weekStarts });
          for (const seconds of instants) {
            const start = window.startOf(seconds);
            assert.ok(start <= seconds && seconds < start + window.size);
            const own = periodOf(dateAt(start, zone), unit, weekStarts);
            assert.equal(periodOf(dateAt(seconds, zone), unit, weekStarts), own);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  const at = (text: string) => Math.floor(Temporal.Instant.from(text).epochMilliseconds / 1000);
  const lengths: [string, string, CalendarUnit, string, number][] = [
    ["a day with a change to summer time", "Europe/Berlin", Unit.DAY, "2026-03-29T12:00:00Z", 23 * 3600],
    ["a day with a change to winter time", "Europe/Berlin", Unit.DAY, "2026-10-25T12:00:00Z", 25 * 3600],
    [
      "a day with a change of half an hour",
      "Australia/Lord_Howe",
      Unit.DAY,
      "2026-04-05T06:00:00Z",
      24.5 * 3600,
    ],
    ["the day before a skipped one", "Pacific/Apia", Unit.DAY, "2011-12-30T00:00:00Z", 24 * 3600],
    ["a week with a skipped day", "Pacific/Apia", Unit.WEEK, "2011-12-28T00:00:00Z", 6 * 86_400],
    ["February of a leap year", "UTC", Unit.MONTH, "2028-02-10T00:00:00Z", 29 * 86_400],
    ["a leap year", "UTC", Unit.YEAR, "2028-06-01T00:00:00Z", 366 * 86_400],
  ];
  for (const [name, timeZone, unit, instant, length] of lengths)
    test(`${name} has its real length`, () => {
      const window = new CalendarWindow(unit, { timeZone, weekStarts: "monday" });
      window.startOf(at(instant));
      assert.equal(window.size, length);
    });

  test("a clock that is set back over midnight stays in the new day", () => {
    // In St. John's the clock went from 00:01 back to 23:01 of the day before.
    const window = new CalendarWindow(Unit.DAY, { timeZone: "America/St_Johns", weekStarts: "monday" });
    const midnight = at("1987-10-25T02:30:00Z");
    assert.equal(window.startOf(midnight), midnight);
    assert.equal(dateAt(midnight + 120, "America/St_Johns").toString(), "1987-10-24");
    assert.equal(window.startOf(midnight + 120), midnight);
    const other = new CalendarWindow(Unit.DAY, { timeZone: "America/St_Johns", weekStarts: "monday" });
    assert.equal(other.startOf(midnight + 120), midnight, "also for a process that starts then");
    assert.equal(other.size, window.size);
  });

  test("a time zone has its usual name", () => {
    assert.equal(timeZoneName("europe/berlin"), "Europe/Berlin");
    assert.equal(timeZoneName("utc"), "UTC");
    for (const name of ["", "Mars/Base", "+01:00", "Europe/Berlin[u-ca=iso8601]", "2020-01-01"])
      assert.equal(timeZoneName(name), undefined, name);
  });
});
