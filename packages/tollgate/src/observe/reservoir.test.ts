import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { Reservoir } from "./reservoir.ts";

describe("a reservoir", () => {
  it("keeps all values while there is room, and never more than its capacity", () => {
    const reservoir = new Reservoir(3);
    for (let i = 0; i < 3; i++) reservoir.add(i);
    assert.deepEqual(reservoir.peek(), [0, 1, 2]);
    for (let i = 3; i < 500; i++) reservoir.add(i);
    const { samples, seen } = reservoir.take();
    assert.equal(samples.length, 3);
    assert.equal(seen, 500);
    assert.deepEqual(reservoir.take(), { samples: [], seen: 0 });
  });

  it("keeps the same values for the same random numbers, however the values are grouped", () => {
    const runs = fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 20 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), runs, fc.integer(), (capacity, lengths, seed) => {
        const [together, apart] = [new Reservoir(capacity, lcg(seed)), new Reservoir(capacity, lcg(seed))];
        for (const [value, length] of lengths.entries()) {
          together.add(value, length);
          for (let time = 0; time < length; time++) apart.add(value);
        }
        assert.deepEqual(together.take(), apart.take());
      }),
    );
  });

  it("terminates with any random numbers", () => {
    for (const number of [0, 1 - 2 ** -53]) {
      const reservoir = new Reservoir(5, () => number);
      reservoir.add(1, 1000);
      assert.equal(reservoir.take().samples.length, 5);
    }
  });

  it("keeps each value with the same probability", () => {
    const random = lcg(42);
    const kept = new Float64Array(10);
    for (let round = 0; round < 2000; round++) {
      const reservoir = new Reservoir(10, random);
      for (let i = 0; i < 100; i++) reservoir.add(i);
      for (const value of reservoir.take().samples) kept[Math.floor(value / 10)]!++;
    }
    // Each value is expected in a tenth of 20,000 runs, with a standard deviation of 42.
    for (const [tenth, count] of kept.entries())
      assert.ok(count > 1800 && count < 2200, `of tenth ${tenth} ${count} were kept instead of 2000`);
  });
});

/** The upper bits of Knuth's MMIX generator: the same numbers in each run. */
function lcg(seed: number): () => number {
  let state = BigInt.asUintN(64, BigInt(seed));
  return () => {
    state = BigInt.asUintN(64, state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n);
    return Number(state >> 11n) / 2 ** 53;
  };
}
