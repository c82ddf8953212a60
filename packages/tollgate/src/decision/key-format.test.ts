import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Entry, Unit } from "../protocol/messages.ts";
import { createKeyFormat, type KeyFormatOptions } from "./key-format.ts";

const plain = { sharedValues: undefined };

function stemOf(
  backend: KeyFormatOptions["backend"],
  value: string,
  more: Partial<KeyFormatOptions> = {},
): string {
  const keyFormat = createKeyFormat({ format: "compatible", prefix: "p:", backend, ...more });
  return keyFormat("d", [{ key: "k", value }], plain, Unit.MINUTE);
}

test("the compatible format concatenates the parts without escaping them", () => {
  assert.equal(stemOf("kvstore", "a b|{c}\n%"), "p:d_k_a b|{c}\n%_");
  assert.equal(stemOf("objcache", "a|{c}%é"), "p:d_k_a|{c}%é_");
});

test("counters of this process keep the format without collisions", () => {
  assert.equal(stemOf("embedded", "v"), "p:d|k=v|minute:");
});

// The Go service refuses such requests, or cannot store such keys, so there is no counter to share.
const others: [name: string, backend: KeyFormatOptions["backend"], value: string, stem: string][] = [
  ["bytes that are not UTF-8, kvstore", "kvstore", "\udcff", "p:d|k=%FF|minute:"],
  ["bytes that are not UTF-8, objcache", "objcache", "\udcff", "p:d|k=%FF|minute:"],
  ["white space in memcached", "objcache", "a b", "p:d|k=a%20b|minute:"],
  ["control characters in memcached", "objcache", "\n\u007f", "p:d|k=%0A%7F|minute:"],
];
for (const [name, backend, value, stem] of others)
  test(`a key that the Go service does not have keeps our format: ${name}`, () => {
    assert.equal(stemOf(backend, value), stem);
  });

test("keys up to 64 KiB are not hashed in a key-value store, and up to 250 bytes in memcached", () => {
  for (const [backend, longest] of [
    ["kvstore", 65_536],
    ["objcache", 250],
  ] as const) {
    const room = longest - "p:d_k__1795345200".length;
    for (const value of ["x".repeat(room), "é".repeat(room / 2)])
      assert.equal(stemOf(backend, value), `p:d_k_${value}_`);
    assert.match(stemOf(backend, "x".repeat(room + 1)), /^p:#[0-9a-f]{32}:minute:$/);
    assert.match(stemOf(backend, "é".repeat(room / 2 + 1)), /^p:#[0-9a-f]{32}:minute:$/);
  }
});

test("equal text of domain and entries means an equal key, whatever the unit", () => {
  const part = fc.string({ unit: fc.constantFrom("a", "_", "|"), maxLength: 4 });
  const entries = fc.array(fc.record({ key: part, value: part }), { maxLength: 3 });
  const keyFormat = createKeyFormat({ format: "compatible", prefix: "", backend: "kvstore" });
  fc.assert(
    fc.property(part, entries, fc.integer({ min: 1, max: 7 }), (domain, list: Entry[], unit) => {
      const expected = [domain, ...list.flatMap(({ key, value }) => [key, value]), ""].join("_");
      assert.equal(keyFormat(domain, list, plain, unit as Unit), expected);
    }),
  );
});
