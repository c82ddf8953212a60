import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { mulDivCeil, mulDivFloor } from "./exact.ts";

const integer = fc.oneof(
  fc.maxSafeNat(),
  fc.nat({ max: 1000 }),
  fc.nat(),
  fc.constantFrom(2 ** 53 - 1, 2 ** 52 + 1, 2 ** 27 + 1),
);

test("a x b / c is exact, rounded down and rounded up, up to 2^53", () => {
  fc.assert(
    fc.property(
      integer,
      integer,
      integer.filter((c) => c > 0),
      (a, b, c) => {
        const product = BigInt(a) * BigInt(b);
        const floor = product / BigInt(c);
        fc.pre(floor < 2n ** 53n - 1n);
        assert.equal(BigInt(mulDivFloor(a, b, c)), floor);
        assert.equal(BigInt(mulDivCeil(a, b, c)), floor + (product % BigInt(c) > 0n ? 1n : 0n));
      },
    ),
    { numRuns: 5000 },
  );
});

test("multiples and their neighbours are exact", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2 ** 20, max: 2 ** 26 }),
      fc.integer({ min: 2 ** 20, max: 2 ** 26 }),
      fc.integer({ min: -1, max: 1 }),
      (quotient, divisor, off) => {
        const product = quotient * divisor + off;
        assert.equal(mulDivFloor(product, 1, divisor), off < 0 ? quotient - 1 : quotient);
        assert.equal(mulDivCeil(1, product, divisor), off > 0 ? quotient + 1 : quotient);
      },
    ),
  );
});

test("a quotient beyond 2^53 stays above it", () => {
  for (const [a, b, c] of [
    [2 ** 53 - 1, 2 ** 53 - 1, 1],
    [2 ** 53 - 1, 10, 2],
  ] as const) {
    assert.ok(mulDivFloor(a, b, c) > 2 ** 53);
    assert.ok(mulDivCeil(a, b, c) > 2 ** 53);
  }
});
