import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Unit } from "../protocol/messages.ts";
import { createKeyFormat } from "./key-format.ts";
import { keyPrefixOf, parseKey } from "./parse-key.ts";

const text = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.string({ unit: "binary", minLength: 1, maxLength: 12 }),
  fc.constantFrom("%", "a|b", "a=b", "{x}", "a b", "\udcff", "ä", "a,b"),
);

test("every key leads back to its descriptor, alone and in a list", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("", "p:", "{tag}p"),
      text,
      fc.array(fc.record({ key: text, value: text }, { noNullPrototype: true }), {
        minLength: 1,
        maxLength: 4,
      }),
      fc.boolean(),
      (prefix, domain, entries, isListed) => {
        const keyFormat = createKeyFormat({ format: "tollgate", prefix, backend: "embedded" });
        const match = { sharedValues: undefined };
        const shape = isListed
          ? { part: "fixed:900:", isListed, isPlain: false, longestPart: 10 }
          : undefined;
        const key = `${keyFormat(domain, entries, match, Unit.MINUTE, shape)}1700000000`;
        assert.deepEqual(parseKey(prefix, key), { domain, entries });
      },
    ),
  );
});

test("other keys are not read", () => {
  for (const key of [
    "",
    "p:",
    "other",
    "p:#0123456789abcdef:minute:17",
    "p:d|a|minute:17",
    "p:tollgate:audit",
  ])
    assert.equal(parseKey("p:", key), undefined, key);
});

test("prefixes of descriptors", () => {
  for (const [domain, descriptor, expected] of [
    [undefined, "", "p:"],
    ["d", "", "p:d|"],
    ["d", "ten", "p:d|ten"],
    ["d", "tenant=a", "p:d|tenant=a"],
    ["d e", "tenant=a b,path=/x", "p:d%20e|tenant=a%20b|path=/x"],
    ["d", "tenant=a\\,b,path=", "p:d|tenant=a,b|path="],
  ] as const)
    assert.equal(keyPrefixOf("p:", domain, descriptor), expected);
});
