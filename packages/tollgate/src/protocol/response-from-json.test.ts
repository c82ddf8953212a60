import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { responseToJson } from "./json-response.ts";
import { anyResponse } from "./messages.arbitrary.ts";
import { responseFromJson } from "./response-from-json.ts";

test("reads what the service writes, without the metadata", () => {
  fc.assert(
    fc.property(anyResponse, (response) => {
      const sent: unknown = JSON.parse(JSON.stringify(responseToJson(response)));
      assert.deepEqual(responseFromJson(sent), { ...response, dynamicMetadata: undefined });
    }),
  );
});

const WRONG: readonly unknown[] = [
  null,
  7,
  {},
  { overallCode: "MAYBE" },
  { overallCode: null },
  { overallCode: "OK", statuses: {} },
  { overallCode: "OK", statuses: [null] },
  { overallCode: "OK", statuses: [{ code: "OK", currentLimit: { unit: "FORTNIGHT" } }] },
];
for (const value of WRONG)
  test(`refuses ${JSON.stringify(value)}`, () => {
    assert.throws(() => responseFromJson(value), {
      name: "TypeError",
      message: "it answers with something that is not the response of a rate limit service",
    });
  });
