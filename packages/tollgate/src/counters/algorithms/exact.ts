/**
 * Exact products and quotients of integers up to 2^53, in doubles. `BigInt` would be slower. The scripts of the key-value
 * store have only doubles and take the same steps.
 */

/** Splits a double into two halves of 26 bits (Veltkamp). */
const SPLITTER = 2 ** 27 + 1;

/** floor(a x b / c). Arguments are integers from 0 to 2^53 - 1, c at least 1. Beyond 2^53 the result is approximate. */
export function mulDivFloor(a: number, b: number, c: number): number {
  const product = a * b;
  // The quotient of two exact integers below 2^53 never rounds to a whole number that it does not reach.
  return product <= Number.MAX_SAFE_INTEGER ? Math.floor(product / c) : longDivision(a, b, c, 0);
}

/** ceil(a x b / c), like {@link mulDivFloor}. */
export function mulDivCeil(a: number, b: number, c: number): number {
  const product = a * b;
  return product <= Number.MAX_SAFE_INTEGER ? Math.ceil(product / c) : longDivision(a, b, c, 1);
}

/** Estimates the quotient, and corrects it by the exact remainder. @param up 1 to round up */
function longDivision(a: number, b: number, c: number, up: 0 | 1): number {
  const product = a * b;
  let quotient = Math.floor(product / c);
  if (quotient > Number.MAX_SAFE_INTEGER) return quotient;
  const estimate = quotient * c;
  let remainder = product - estimate + (rest(a, b, product) - rest(quotient, c, estimate));
  while (remainder < 0) {
    remainder += c;
    quotient -= 1;
  }
  while (remainder >= c) {
    remainder -= c;
    quotient += 1;
  }
  return remainder > 0 ? quotient + up : quotient;
}

/** a x b minus its rounded product, exactly (Dekker). */
function rest(a: number, b: number, product: number): number {
  const aSplit = SPLITTER * a;
  const aHigh = aSplit - (aSplit - a);
  const aLow = a - aHigh;
  const bSplit = SPLITTER * b;
  const bHigh = bSplit - (bSplit - b);
  const bLow = b - bHigh;
  return aHigh * bHigh - product + aHigh * bLow + aLow * bHigh + aLow * bLow;
}
