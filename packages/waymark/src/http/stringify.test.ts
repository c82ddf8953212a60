import assert from "node:assert/strict";
import { test } from "node:test";
import { stringify } from "./stringify.ts";

test("bigints, maps and sets", () => {
  const rows: [unknown, string][] = [
    [{ a: 1n }, '{"a":"1"}'],
    [[{}], "[{}]"],
    [new Date(0), '"1970-01-01T00:00:00.000Z"'],
    [Number.NaN, "null"],
  ];
  for (const [value, text] of rows) assert.equal(stringify(value), text);
  for (const value of [new Map([[1, 2]]), { a: new Set([1]) }, Symbol("x"), () => 1, undefined]) {
    assert.throws(() => stringify(value), TypeError);
  }
  const members: [unknown, RegExp][] = [
    [{ a: Promise.reject(new Error("x")) }, /^a Promise cannot be sent as JSON: await it$/],
    [[new ReadableStream()], /^a stream or a generator cannot be sent within JSON: return it by itself$/],
    [{ a: (function* () {})() }, /^a stream or a generator cannot/],
  ];
  for (const [value, message] of members) assert.throws(() => stringify(value), { message });
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  assert.throws(() => stringify(cycle), TypeError);
});
