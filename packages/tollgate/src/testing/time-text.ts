/** Durations and instants as text. */

const MILLISECONDS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** The longest duration: ten years, like the longest window. */
export const MAX_DURATION = 3650 * MILLISECONDS.d!;

/** Reads `90`, `90s` or `1h30m`, in milliseconds. A number without a unit is seconds. Undefined for other texts. */
export function durationOf(text: string): number | undefined {
  if (/^\d+(?:\.\d+)?$/.test(text)) return within(Number(text) * 1000);
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g))
    total += Number(amount) * MILLISECONDS[unit!]!;
  return within(total);
}

function within(duration: number): number | undefined {
  const whole = Math.round(duration);
  return whole <= MAX_DURATION ? whole : undefined;
}

/** Reads a date, or a date and a time with a zone, in milliseconds since the epoch. Undefined for other texts. */
export function instantOf(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:[Zz]|[-+]\d\d:\d\d))?$/.test(text))
    return undefined;
  const time = Date.parse(text.replace(" ", "T").toUpperCase());
  return Number.isNaN(time) || time < 0 ? undefined : time;
}

/** Formats an instant without milliseconds that are 0. */
export function instantText(time: number): string {
  return new Date(time).toISOString().replace(".000Z", "Z");
}
