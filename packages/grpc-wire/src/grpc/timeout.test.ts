import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTimeout } from "./timeout.ts";

const cases: [value: string, ms: number][] = [
  ["1H", 3_600_000],
  ["2M", 120_000],
  ["3S", 3000],
  ["20m", 20],
  ["1500u", 1.5],
  ["99999999n", 99.999999],
  ["0m", 0],
  ["00000001S", 1000],
  ["", -1],
  ["m", -1],
  ["1", -1],
  ["100000000m", -1],
  ["1 m", -1],
  ["-1m", -1],
  ["1.5S", -1],
  ["1s", -1],
  ["1mm", -1],
];
for (const [value, ms] of cases)
  test(`grpc-timeout ${JSON.stringify(value)} is ${ms < 0 ? "malformed" : `${ms} ms`}`, () =>
    assert.equal(Math.round(parseTimeout(value) * 1e6) / 1e6, ms));
