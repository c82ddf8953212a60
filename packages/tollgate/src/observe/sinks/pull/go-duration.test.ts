import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseGoDuration } from "./go-duration.ts";

describe("durations of mapping files", () => {
  const cases: readonly [unknown, number | undefined][] = [
    ["1m20s", 80_000],
    ["150us", 0.15],
    ["1.5h", 5_400_000],
    ["0", 0],
    [0, 0],
    ["10", undefined],
    [10, undefined],
    ["", undefined],
    ["5 s", undefined],
    ["5d", undefined],
    [true, undefined],
  ];
  for (const [value, milliseconds] of cases)
    it(`${JSON.stringify(value)} is ${milliseconds}`, () =>
      assert.equal(parseGoDuration(value), milliseconds));
});
