/** One limit of a rule that uses more than a number and a unit. */
import type { Unit } from "../protocol/messages.ts";
import { unitNames, windowSeconds } from "../protocol/units.ts";
import { type Calendar, CalendarWindow, isCalendarUnit } from "./calendar-window.ts";
import { epochWindow, unitWindow, type Window } from "./window.ts";

export const algorithmNames = ["fixed_window", "sliding_window", "token_bucket"] as const;
export type AlgorithmName = (typeof algorithmNames)[number];

export const countNames = ["all", "accepted"] as const;

/** Maximum limits of one rule. */
export const MAX_LIMITS = 8;
/** Maximum of `requests_per_unit` and `burst` of a token bucket. */
export const MAX_TOKENS = 1_000_000_000;
/** Maximum length of a window: ten years of 365 days. */
export const MAX_WINDOW = 10 * 31_536_000;

/** The settings of a limit, checked. */
export interface LimitSettings {
  /** 0 to 2^53 - 1; at most 1,000,000,000 for a token bucket. */
  readonly requestsPerUnit: number;
  /** The unit of the window. */
  readonly unit: Unit;
  /** Units in a window, from 1. */
  readonly multiplier: number;
  /** The algorithm that counts hits. */
  readonly algorithm: AlgorithmName;
  /** The size of a token bucket. */
  readonly burst: number;
  /** `count: accepted`. Always true for the other algorithms and in a list. */
  readonly acceptedOnly: boolean;
  /** The setting `strict`. */
  readonly strict: boolean;
  /** Whether open reservations count for every decision. */
  readonly reservations: boolean;
  /** The time zone and the start of calendar windows. Undefined for windows from the epoch. */
  readonly calendar: Calendar | undefined;
  /** Empty if the limit has no name. */
  readonly name: string;
}

/** A limit of a rule, with what follows from its settings. */
export interface Limit extends LimitSettings {
  /** The window of the unit and the multiplier. */
  readonly window: Window;
  /** Instead of the unit in the cache key: `minute:`, `fixed:900:`, `sliding:60`, `calendar:day:Europe/Berlin:`. */
  readonly keyPart: string;
  /** Whether it is one of `rate_limits`. */
  readonly isListed: boolean;
}

export function createLimit(settings: LimitSettings, isListed: boolean): Limit {
  return Object.freeze({ ...settings, window: windowOf(settings), keyPart: keyPartOf(settings), isListed });
}

/** The limit of a rule with a number, a unit and a name only. */
export function plainLimit({
  requestsPerUnit,
  unit,
  name,
}: Pick<LimitSettings, "requestsPerUnit" | "unit" | "name">): Limit {
  return {
    requestsPerUnit,
    unit,
    multiplier: 1,
    algorithm: "fixed_window",
    burst: requestsPerUnit,
    acceptedOnly: false,
    strict: false,
    reservations: false,
    calendar: undefined,
    name,
    window: unitWindow(unit),
    keyPart: plainKeyParts[unit]!,
    isListed: false,
  };
}

const plainKeyParts: readonly string[] = unitNames.map((name) => `${name.toLowerCase()}:`);

/** Whether a limit is decided by one count of its window. */
export function isPlain({ algorithm, acceptedOnly }: LimitSettings): boolean {
  return algorithm === "fixed_window" && !acceptedOnly;
}

/** The name of a limit in statistics: its name, or its unit with the multiplier: `minute`, `15_minute`. */
export function statisticName({ name, unit, multiplier }: LimitSettings): string {
  if (name !== "") return name;
  const unitName = unitNames[unit].toLowerCase();
  return multiplier === 1 ? unitName : `${multiplier}_${unitName}`;
}

function windowOf({ unit, multiplier, calendar }: LimitSettings): Window {
  if (calendar !== undefined && isCalendarUnit(unit)) return new CalendarWindow(unit, calendar);
  return multiplier === 1 ? unitWindow(unit) : epochWindow(windowSeconds[unit]! * multiplier);
}

export function keyPartOf({ algorithm, unit, multiplier, calendar }: LimitSettings): string {
  const seconds = windowSeconds[unit]! * multiplier;
  if (algorithm === "sliding_window") return `sliding:${seconds}`;
  if (algorithm === "token_bucket") return `bucket:${seconds}`;
  const unitName = unitNames[unit].toLowerCase();
  if (calendar === undefined) return multiplier === 1 ? `${unitName}:` : `fixed:${seconds}:`;
  const week = unitName === "week" ? `:${calendar.weekStarts}` : "";
  return `calendar:${unitName}:${calendar.timeZone}${week}:`;
}
