import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { COUNTED_PER_SECOND, Pace } from "./pace.ts";

/** The sum of what `decisions` in one second represent, and how many of them were counted. */
function second(pace: Pace, from: number, decisions: number): { represented: number; counted: number } {
  let represented = 0;
  let counted = 0;
  for (let index = 0; index < decisions; index++) {
    const weight = pace.take(from + (index * 999) / decisions);
    represented += weight;
    if (weight > 0) counted++;
  }
  return { represented, counted };
}

describe("the pace of counting", () => {
  it("counts every decision as long as there are few", () => {
    const pace = new Pace(1);
    for (let time = 0; time < 10_000; time += 1000)
      assert.deepEqual(second(pace, time, COUNTED_PER_SECOND - 1), {
        represented: COUNTED_PER_SECOND - 1,
        counted: COUNTED_PER_SECOND - 1,
      });
  });

  it("counts a bounded number of many, which represent all of them", () => {
    fc.assert(
      fc.property(
        fc.integer().filter((seed) => seed !== 0),
        fc.array(fc.integer({ min: 1, max: 60_000 }), { minLength: 3, maxLength: 6 }),
        (seed, rates) => {
          const pace = new Pace(seed);
          for (const [index, rate] of rates.entries()) {
            const { represented, counted } = second(pace, index * 1000, rate);
            // A second after a much busier one counts fewer than it could.
            assert.ok(counted <= 6 * COUNTED_PER_SECOND, `${counted} of ${rate} are counted`);
            const most = Math.max(...rates.slice(0, index + 1)) / COUNTED_PER_SECOND;
            const deviation = Math.sqrt(2 * Math.max(most, 1) * rate);
            assert.ok(Math.abs(represented - rate) <= 7 * deviation + 7 * most, `${represented} for ${rate}`);
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  it("counts every decision again after a quiet second, and after a clock that was set back", () => {
    const pace = new Pace(1);
    second(pace, 0, 100_000);
    assert.equal(pace.take(5000), 1);
    second(pace, 5000, 100_000);
    assert.equal(pace.take(0), 1);
  });
});
