import assert from "node:assert/strict";
import { test } from "node:test";
import { fromJson, toJson } from "@bufbuild/protobuf";
import fc from "fast-check";
import { generatedRequest } from "./encode-request.ts";
import { RateLimitRequestSchema } from "./gen/envoy/service/ratelimit/v3/rls_pb.ts";
import { JsonRequestError, requestFromJson } from "./json-request.ts";
import { anyRequest } from "./messages.arbitrary.ts";

test("reads the JSON of protobuf-es", () => {
  fc.assert(
    fc.property(anyRequest, (request) => {
      const message = generatedRequest(request);
      assert.deepEqual(requestFromJson(toJson(RateLimitRequestSchema, message)), request);
    }),
  );
});

test("any JSON value is a request or a JsonRequestError, and values that protobuf-es refuses are refused", () => {
  const names = [
    "domain",
    "descriptors",
    "hitsAddend",
    "hits_addend",
    "entries",
    "key",
    "value",
    "limit",
    "unit",
    "requestsPerUnit",
    "isNegativeHits",
    "__proto__",
    "x",
  ];
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom(null, true, 0, -1, 1.5, 5, "", "a", "5", "MINUTE", "1e400"),
      fc.array(tie("value"), { maxLength: 2 }),
      tie("object"),
    ),
    object: fc.dictionary(fc.constantFrom(...names), tie("value"), { maxKeys: 4 }),
  }));
  fc.assert(
    fc.property(value, (input) => {
      let ours: unknown;
      try {
        ours = requestFromJson(input);
      } catch (error) {
        assert.ok(error instanceof JsonRequestError, String(error));
      }
      let theirs: unknown;
      try {
        theirs = fromJson(RateLimitRequestSchema, input as never);
      } catch {}
      if (theirs === undefined) assert.equal(ours, undefined, JSON.stringify(input));
    }),
    { numRuns: 3000 },
  );
});

const d = (descriptor: unknown) => ({ domain: "d", descriptors: [descriptor] });
const entry = { key: "k", value: "v" };
const UNITS = "SECOND, MINUTE, HOUR, DAY, MONTH, YEAR, WEEK";

const refused: [unknown, string][] = [
  [null, "must be an object with a domain and descriptors, not null"],
  [[], "must be an object with a domain and descriptors, not a list"],
  ["text", 'must be an object with a domain and descriptors, not "text"'],
  [{ domian: "d" }, "domian: is an unknown field; the fields are domain, descriptors, hitsAddend"],
  [{ domain: 5 }, "domain: must be a string, not 5"],
  [{ descriptors: {} }, "descriptors: must be a list, not an object"],
  [{ hitsAddend: -1 }, "hitsAddend: must be a whole number from 0 to 2^32 - 1, not -1"],
  [{ hitsAddend: 1.5 }, "hitsAddend: must be a whole number from 0 to 2^32 - 1, not 1.5"],
  [{ hitsAddend: 4_294_967_296 }, "hitsAddend: must be a whole number from 0 to 2^32 - 1, not 4294967296"],
  [{ hitsAddend: "x" }, 'hitsAddend: must be a whole number from 0 to 2^32 - 1, not "x"'],
  [{ hitsAddend: 1, hits_addend: 1 }, "hitsAddend: is present twice, as hitsAddend and as hits_addend"],
  [d(null), "descriptors[0]: must be an object, not null"],
  [
    d({ entry: [] }),
    "descriptors[0].entry: is an unknown field; the fields are entries, limit, hitsAddend, isNegativeHits",
  ],
  [d({ entries: [{ key: 1 }] }), "descriptors[0].entries[0].key: must be a string, not 1"],
  [
    d({ entries: [entry, { Key: "k" }] }),
    "descriptors[0].entries[1].Key: is an unknown field; the fields are key, value",
  ],
  [d({ limit: 5 }), "descriptors[0].limit: must be an object, not 5"],
  [
    d({ limit: { unit: "FORTNIGHT" } }),
    `descriptors[0].limit.unit: must be one of ${UNITS}, not "FORTNIGHT"`,
  ],
  [
    d({ limit: { unitMultiplier: -1 } }),
    "descriptors[0].limit.unitMultiplier: must be a whole number from 0 to 2^32 - 1, not -1",
  ],
  [
    d({ hitsAddend: JSON.parse("7".repeat(1000)) }),
    "descriptors[0].hitsAddend: must be a whole number from 0 to 2^64 - 1, not so large a number",
  ],
  [d({ limit: { unit: 1.5 } }), `descriptors[0].limit.unit: must be one of ${UNITS}, not 1.5`],
  [d({ isNegativeHits: "true" }), 'descriptors[0].isNegativeHits: must be true or false, not "true"'],
  [
    d({ hitsAddend: "18446744073709551616" }),
    'descriptors[0].hitsAddend: must be a whole number from 0 to 2^64 - 1, not "18446744073709551616"',
  ],
];
for (const [input, message] of refused) {
  test(`refused: ${message}`, () => {
    assert.throws(() => requestFromJson(input), {
      name: "JsonRequestError",
      code: "MALFORMED_JSON",
      message,
    });
  });
}

const plain = { entries: [], limit: undefined, hitsAddend: undefined, isNegativeHits: false };
const accepted: [string, unknown, unknown][] = [
  ["an empty object", {}, { domain: "", descriptors: [], hitsAddend: 0 }],
  [
    "null for the default",
    { domain: null, descriptors: null, hitsAddend: null },
    { domain: "", descriptors: [], hitsAddend: 0 },
  ],
  [
    "half of a surrogate pair",
    { domain: "\ud800a", descriptors: [{ entries: [{ key: "\udcff", value: "\u{1f600}" }] }] },
    {
      domain: "\udced\udca0\udc80a",
      descriptors: [{ ...plain, entries: [{ key: "\udced\udcb3\udcbf", value: "\u{1f600}" }] }],
      hitsAddend: 0,
    },
  ],
  [
    "original names",
    {
      domain: "d",
      hits_addend: 3,
      descriptors: [
        {
          hits_addend: 2,
          is_negative_hits: true,
          limit: { requests_per_unit: 5, unit: "MINUTE", unit_multiplier: 15 },
        },
      ],
    },
    {
      domain: "d",
      hitsAddend: 3,
      descriptors: [
        {
          ...plain,
          hitsAddend: 2,
          isNegativeHits: true,
          limit: { requestsPerUnit: 5, unit: 2, unitMultiplier: 15 },
        },
      ],
    },
  ],
  [
    "numbers as strings",
    { hitsAddend: "7", descriptors: [{ hitsAddend: "18446744073709551615" }] },
    { domain: "", hitsAddend: 7, descriptors: [{ ...plain, hitsAddend: Number.MAX_SAFE_INTEGER }] },
  ],
  [
    "a unit by number",
    d({ limit: { unit: 7 } }),
    { ...d({ ...plain, limit: { requestsPerUnit: 0, unit: 7, unitMultiplier: undefined } }), hitsAddend: 0 },
  ],
  [
    "an unknown unit, which the decision refuses",
    d({ limit: { unit: 9 } }),
    { ...d({ ...plain, limit: { requestsPerUnit: 0, unit: 9, unitMultiplier: undefined } }), hitsAddend: 0 },
  ],
];
for (const [name, input, expected] of accepted) {
  test(`accepted: ${name}`, () => assert.deepEqual(requestFromJson(input), expected));
}
