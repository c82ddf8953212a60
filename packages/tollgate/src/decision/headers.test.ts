import assert from "node:assert/strict";
import { test } from "node:test";
import { Code, type DescriptorStatus, Unit } from "../protocol/messages.ts";
import { type HeaderOptions, limitHeaders } from "./headers.ts";

const options: HeaderOptions = {
  format: "contract",
  limit: "RateLimit-Limit",
  remaining: "RateLimit-Remaining",
  reset: "RateLimit-Reset",
};
const status = (
  limit: number | undefined,
  remaining: number,
  reset = 55,
  code: Code = Code.OK,
): DescriptorStatus => ({
  code,
  currentLimit: limit === undefined ? undefined : { requestsPerUnit: limit, unit: Unit.MINUTE, name: "" },
  limitRemaining: remaining,
  durationUntilReset: reset,
});
const { OVER_LIMIT } = Code;

const cases: [string, DescriptorStatus[], string][] = [
  ["no descriptor with a limit", [status(undefined, 0, 0)], ""],
  ["the only one", [status(10, 4)], "10 4 55"],
  ["the least remaining", [status(10, 9), status(5, 4, 3595)], "5 4 3595"],
  ["the first among equals", [status(10, 4), status(5, 4)], "10 4 55"],
  ["over limit before all others", [status(10, 0), status(5, 0, 9, OVER_LIMIT)], "5 0 9"],
  ["the first of two over limit", [status(7, 0, 1, OVER_LIMIT), status(5, 0, 9, OVER_LIMIT)], "7 0 1"],
  ["without a reset", [status(7, 0, 0)], "7 0"],
];
for (const [name, statuses, expected] of cases) {
  test(`limit headers: ${name}`, () => {
    const headers = limitHeaders(
      options,
      statuses,
      statuses.map(() => "n"),
      Code.OK,
    );
    assert.equal(headers.map(({ value }) => value).join(" "), expected);
    assert.deepEqual(
      headers.map(({ key }) => key),
      [options.limit, options.remaining, options.reset].slice(0, headers.length),
    );
  });
}

test("draft-10 shows every limit, and Retry-After if the request is refused", () => {
  const draft: HeaderOptions = { ...options, format: "draft-10" };
  const statuses = [status(10, 4), status(undefined, 0, 0), status(5, 0, 9, OVER_LIMIT)];
  assert.deepEqual(limitHeaders(draft, statuses, ["per user", "", 'qu"o\\te\n'], OVER_LIMIT), [
    { key: "RateLimit-Policy", value: '"per user";q=10;w=60, "qu\\"o\\\\te?";q=5;w=60' },
    { key: "RateLimit", value: '"per user";r=4;t=55, "qu\\"o\\\\te?";r=0;t=9' },
    { key: "Retry-After", value: "9" },
  ]);
  assert.deepEqual(
    limitHeaders(draft, statuses.slice(0, 1), ["a"], Code.OK).map(({ key }) => key),
    ["RateLimit-Policy", "RateLimit"],
  );
  assert.deepEqual(limitHeaders(draft, statuses.slice(1, 2), [""], Code.OK), []);
  const several = { requestsPerUnit: 10, unit: Unit.MINUTE, name: "", unitMultiplier: 15 };
  const [policy] = limitHeaders(draft, [{ ...status(10, 4), currentLimit: several }], ["a"], Code.OK);
  assert.equal(policy!.value, '"a";q=10;w=900', "a window of several units");
});
