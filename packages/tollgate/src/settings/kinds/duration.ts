/** Milliseconds in each unit of Go's duration syntax. Both characters for micro (U+00B5, U+03BC) are valid. */
const unitMilliseconds: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1e3,
  m: 60e3,
  h: 3600e3,
};

const whole = /^[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;
const part = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;

/**
 * Parses a duration like Go's `time.ParseDuration`: `1h30m`, `150us`, `-1.5s`, and `0` without a unit.
 * @returns milliseconds, possibly with a fraction; undefined if the text is not a duration
 */
export function parseDuration(text: string): number | undefined {
  if (/^[-+]?0$/.test(text)) return 0;
  if (!whole.test(text)) return undefined;
  let sum = 0;
  for (const [, digits, unit = ""] of text.matchAll(part))
    sum += Number(digits) * (unitMilliseconds[unit] ?? 0);
  // Go's durations are whole nanoseconds. Without rounding to them, 0.1ms + 0.2ms would give 0.30000000000000004.
  const milliseconds = Math.round(sum * 1e6) / 1e6;
  return text.startsWith("-") ? -milliseconds : milliseconds;
}

/** Formats a duration in Go's syntax: `24h`, `1h30m`, `150us`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds === 0) return "0s";
  if (milliseconds < 0) return `-${formatDuration(-milliseconds)}`;
  if (milliseconds < 1) {
    const micro = milliseconds * 1e3;
    return Number.isInteger(micro) ? `${micro}us` : `${Math.round(milliseconds * 1e6)}ns`;
  }
  if (milliseconds < 1000) return `${milliseconds}ms`;
  const hours = Math.floor(milliseconds / 3600e3);
  const minutes = Math.floor((milliseconds % 3600e3) / 60e3);
  const seconds = Math.round((milliseconds % 60e3) * 1e6) / 1e9;
  return `${hours > 0 ? `${hours}h` : ""}${minutes > 0 ? `${minutes}m` : ""}${seconds > 0 ? `${seconds}s` : ""}`;
}
