/** Checks the settings of limits beyond a number and a unit. */
import { sanitise } from "../observe/names.ts";
import { unitNames, windowSeconds } from "../protocol/units.ts";
import { hasTemporal, isCalendarUnit, timeZoneName } from "./calendar-window.ts";
import type { DraftDescriptor, DraftLimit, DraftLimitSettings } from "./draft.ts";
import { keyPartOf, MAX_LIMITS, MAX_TOKENS, MAX_WINDOW, statisticName } from "./limit.ts";
import { settingsOf } from "./limit-settings.ts";
import type { Report } from "./report.ts";
import type { Location } from "./rule.ts";

/** @param fixedWindowsOnly why the store supports fixed windows only, if it does */
export function checkSettings(
  { limit, limits }: DraftDescriptor,
  fixedWindowsOnly: string | undefined,
  report: Report,
): void {
  if (limits !== undefined) {
    if (limit !== undefined) {
      const message = "a descriptor has either `rate_limit` or `rate_limits`: put all limits into the list";
      report.add("rate-limit-twice", limits.at, message);
    }
    checkList(limits, report);
  }
  for (const one of limits?.items ?? (limit ? [limit] : []))
    if (one.more !== undefined) checkMore(one, one.more, fixedWindowsOnly, report);
}

function checkList({ at, items }: NonNullable<DraftDescriptor["limits"]>, report: Report): void {
  const fault = (place: Location, message: string) => report.add("bad-list-of-limits", place, message);
  if (items.length === 0) fault(at, "`rate_limits` has no limits: give 1 to 8, or leave it out");
  if (items.length > MAX_LIMITS)
    fault(at, `\`rate_limits\` has ${items.length} limits: give at most ${MAX_LIMITS}`);
  const seen = new Map<string, string>();
  items.forEach((limit, index) => {
    const { unlimited, replaces, more } = limit;
    if (unlimited === true) fault(limit.at, "a limit of a list cannot be `unlimited`: leave the limit out");
    if (replaces.length > 0)
      fault(replaces[0]!.at, "a limit of a list cannot replace others: use `rate_limit` with `replaces`");
    if (more?.count?.value === "all")
      fault(more.count.at, "a list counts accepted hits only: leave out `count`, or write `count: accepted`");
    if (typeof limit.unit !== "number") return;
    const settings = settingsOf(limit, true);
    for (const [what, name] of [
      ["counter", keyPartOf(settings)],
      ["name in statistics", sanitise(statisticName(settings))],
    ] as const) {
      const first = seen.get(`${what} ${name}`);
      if (first === undefined) seen.set(`${what} ${name}`, String(index + 1));
      else {
        const right = what === "counter" ? "change its unit or its algorithm" : "give it another `name`";
        const message = `limits ${first} and ${index + 1} of the list have the same ${what} "${name.replace(/:$/, "")}": ${right}`;
        report.add("equal-limits", limit.at, message);
        return;
      }
    }
  });
}

function checkMore(
  limit: DraftLimit,
  more: DraftLimitSettings,
  fixedWindowsOnly: string | undefined,
  report: Report,
): void {
  const { algorithm, multiplier, calendar } = more;
  const name = algorithm?.value ?? "fixed_window";
  if (limit.unlimited === true) {
    for (const [field, given] of givenOf(more))
      report.add(
        "unit-with-unlimited",
        given.at,
        `\`${field}\` has no meaning with \`unlimited: true\`: leave out one of them`,
      );
    return;
  }
  const needs = (field: string, given: { readonly at: Location } | undefined, right: typeof name) => {
    if (given === undefined || name === right) return;
    const message = `\`${field}\` belongs to \`algorithm: ${right}\`, but this limit has \`${name}\`: leave out one of them`;
    report.add("setting-of-another-algorithm", given.at, message);
  };
  needs("burst", more.burst, "token_bucket");
  needs("count", more.count, "fixed_window");
  needs("strict", more.strict, "fixed_window");
  needs("calendar", calendar, "fixed_window");
  if (more.reservations !== undefined && fixedWindowsOnly !== undefined)
    report.add(
      "unsupported-algorithm",
      more.reservations.at,
      `\`reservations\` is not available: ${fixedWindowsOnly}`,
    );
  if (algorithm !== undefined && name !== "fixed_window" && fixedWindowsOnly !== undefined)
    report.add("unsupported-algorithm", algorithm.at, `\`${name}\` is not available: ${fixedWindowsOnly}`);
  if (
    name === "token_bucket" &&
    typeof limit.requestsPerUnit === "number" &&
    limit.requestsPerUnit > MAX_TOKENS
  ) {
    const message = `\`requests_per_unit\` of a token bucket must be at most ${MAX_TOKENS}: ${limit.requestsPerUnit}`;
    report.add("bad-number", limit.requestsPerUnitAt, message);
  }
  if (typeof limit.unit !== "number") return;
  const unit = unitNames[limit.unit].toLowerCase();
  const seconds = windowSeconds[limit.unit]! * (multiplier?.value ?? 1);
  if (multiplier !== undefined && seconds > MAX_WINDOW) {
    const most = Math.floor(MAX_WINDOW / windowSeconds[limit.unit]!);
    const message = `a window must be at most ten years long: \`unit_multiplier\` of ${unit === "hour" ? "an" : "a"} ${unit} must be at most ${most}`;
    report.add("window-too-long", multiplier.at, message);
  }
  if (calendar !== undefined) checkCalendar(limit, more, unit, report);
}

function checkCalendar(
  limit: DraftLimit,
  { calendar, multiplier }: DraftLimitSettings,
  unit: string,
  report: Report,
) {
  const { at, timeZone } = calendar!;
  if (!hasTemporal()) {
    const message =
      "`calendar` needs `Temporal`, which Node has from version 26 on: update Node, or start it with a polyfill (`--import`)";
    report.add("bad-calendar", at, message);
    return;
  }
  if (typeof limit.unit === "number" && !isCalendarUnit(limit.unit)) {
    const message = `\`calendar\` has no ${unit}s: use \`unit\` day, week, month or year, or leave out \`calendar\``;
    report.add("bad-calendar", at, message);
  }
  if (multiplier !== undefined && multiplier.value !== 1) {
    const message = `\`calendar\` has no windows of ${multiplier.value} ${unit}s: leave out \`unit_multiplier\` or \`calendar\``;
    report.add("bad-calendar", multiplier.at, message);
  }
  if (timeZone !== undefined && timeZoneName(timeZone.value) === undefined) {
    const message = `unknown time zone "${timeZone.value}": use an IANA name such as Europe/Berlin or UTC`;
    report.add("unknown-time-zone", timeZone.at, message);
  }
}

function givenOf(more: DraftLimitSettings): readonly (readonly [string, { readonly at: Location }])[] {
  const names = {
    unit_multiplier: more.multiplier,
    algorithm: more.algorithm,
    burst: more.burst,
    count: more.count,
    strict: more.strict,
    reservations: more.reservations,
    calendar: more.calendar,
  };
  return Object.entries(names).flatMap(([name, given]) =>
    given === undefined ? [] : [[name, given] as const],
  );
}
