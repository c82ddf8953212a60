const UNIT_MS: Record<string, number> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/**
 * Returns a `grpc-timeout` value in milliseconds, with fractions, or -1 for a malformed one. The value has at most 8 digits
 * and a unit (grpc/doc/PROTOCOL-HTTP2.md).
 */
export function parseTimeout(value: string): number {
  const digits = value.length - 1;
  if (digits < 1 || digits > 8) return -1;
  const unit = UNIT_MS[value[digits]!];
  if (unit === undefined) return -1;
  let amount = 0;
  for (let at = 0; at < digits; at++) {
    const digit = value.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    amount = amount * 10 + digit;
  }
  return amount * unit;
}
