const unitMs: Record<string, number> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/**
 * Reads a `grpc-timeout` value (grpc/doc/PROTOCOL-HTTP2.md: at most 8 digits and a unit) into milliseconds,
 * with fractions. -1 where it is malformed.
 */
export function parseTimeout(value: string): number {
  const digits = value.length - 1;
  if (digits < 1 || digits > 8) return -1;
  const unit = unitMs[value[digits]!];
  if (unit === undefined) return -1;
  let amount = 0;
  for (let at = 0; at < digits; at++) {
    const digit = value.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    amount = amount * 10 + digit;
  }
  return amount * unit;
}
