const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Parses a duration in Go's syntax (`1m20s`, or a plain 0) to milliseconds. Undefined for anything else. */
export function parseGoDuration(value: unknown): number | undefined {
  if (value === 0 || value === "0") return 0;
  if (typeof value !== "string" || value.length > 64) return undefined;
  const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y;
  let total = 0;
  while (part.lastIndex < value.length) {
    const match = part.exec(value);
    if (match === null) return undefined;
    total += Number(match[1]) * units[match[2]!]!;
    if (part.lastIndex === value.length) return total;
  }
  return undefined;
}
