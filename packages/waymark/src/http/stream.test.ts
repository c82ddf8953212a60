import assert from "node:assert/strict";
import { test } from "node:test";
import { openStream, stringify, wantsEvents } from "./stream.ts";

test("an Accept header asks for events only by name", () => {
  const rows: [string | undefined, boolean][] = [
    [undefined, false],
    ["*/*", false],
    ["text/*", false],
    ["text/event-stream", true],
    ["text/html, Text/Event-Stream;q=0.5", true],
    ["text/event-stream;q=0.0", false],
  ];
  for (const [accept, expected] of rows) assert.equal(wantsEvents(accept), expected, String(accept));
});

test("JSON with what JSON lacks", () => {
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
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  assert.throws(() => stringify(cycle), TypeError);
});

test("a source is told that nobody reads on, even before its first piece was taken", async () => {
  let ended = 0;
  async function* source() {
    try {
      yield "a";
      yield "b";
    } finally {
      ended++;
    }
  }
  const { body } = await openStream(source(), false);
  await body[Symbol.asyncIterator]().return?.();
  assert.equal(ended, 1);
});

test("what the first step throws is thrown before an answer has begun", async () => {
  const source: AsyncIterable<string> = {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new RangeError("no")) }),
  };
  await assert.rejects(openStream(source, false), RangeError);
});
