import assert from "node:assert/strict";
import { test } from "node:test";
import type { LimitOverride } from "../protocol/messages.ts";
import { dynamicMetadata } from "./metadata.ts";
import { newPart } from "./prepared.ts";

/** Protobuf's text format omits fields of value 0. */
const cases: readonly (readonly [limit: LimitOverride, text: string])[] = [
  [{ requestsPerUnit: 42, unit: 3 }, "requests_per_unit:42 unit:HOUR"],
  [{ requestsPerUnit: 0, unit: 2 }, "unit:MINUTE"],
  [{ requestsPerUnit: 4294967295, unit: 7 }, "requests_per_unit:4294967295 unit:WEEK"],
  [
    { requestsPerUnit: 5, unit: 1, unitMultiplier: 30 },
    "requests_per_unit:5 unit:SECOND unit_multiplier:{value:30}",
  ],
];

for (const [limit, text] of cases)
  test(`a request's own limit in dynamic metadata: ${text}`, () => {
    const descriptor = { entries: [], limit, hitsAddend: undefined, isNegativeHits: false };
    const request = { domain: "d", descriptors: [descriptor], hitsAddend: 0 };
    assert.deepEqual(dynamicMetadata(request, [newPart()], []), {
      domain: "d",
      descriptors: [{ entries: [], limit: text }],
    });
  });
