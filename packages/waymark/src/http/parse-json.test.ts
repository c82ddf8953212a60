import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseJson } from "./parse-json.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test("any JSON has the same value as from JSON.parse", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), (text) => {
      if (text.includes("__proto__")) return;
      assert.deepEqual(parseJson(bytes(text)), JSON.parse(text));
    }),
    { numRuns: 200 },
  );
});

test("a duplicate member is rejected with its name and place", () => {
  assert.throws(() => parseJson(bytes('{"items":[{"size":1,\n"size":2}]}')), {
    status: 400,
    message: 'the JSON body has the member "size" twice in items[0], at line 2, column 1',
    options: {
      errors: [
        {
          in: "body",
          name: "items[0].size",
          message: "must be given only once; it is given again at line 2, column 1",
        },
      ],
    },
  });
  const long = JSON.stringify("n".repeat(5000));
  assert.throws(
    () => parseJson(bytes(`{${long}:1,${long}:1}`)),
    ({ message }: Error) => message.length < 200,
  );
});

test("limits on members and containers apply before anything is parsed", () => {
  const limits = { members: 2, containers: 3 };
  assert.deepEqual(parseJson(bytes('{"a":[[]],"b":1}'), limits), { a: [[]], b: 1 });
  assert.throws(() => parseJson(bytes('{"a":1,"b":1,"c":1}'), limits), {
    status: 413,
    message: "the JSON body has 3 members; the limit is 2",
  });
  assert.throws(() => parseJson(bytes('{"a":{"b":{"d":1},"c":1}}'), { objectMembers: 1 }), {
    status: 413,
    message: "the JSON body has 2 members in one object; the limit is 1",
  });
  assert.throws(() => parseJson(bytes("[[],[],{}"), limits), {
    status: 413,
    message: "the JSON body has 4 objects and lists; the limit is 3",
  });
});

test("any bytes are a value or a 400", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (body) => {
      try {
        parseJson(body);
      } catch (error) {
        assert.equal((error as { status: number }).status, 400);
      }
    }),
    { numRuns: 500 },
  );
});

test("brackets inside strings do not count as depth", () => {
  const text = JSON.stringify({ a: "[".repeat(5000), b: '"'.repeat(100), c: "\\".repeat(99) });
  assert.doesNotThrow(() => parseJson(bytes(text)));
  assert.throws(() => parseJson(bytes(`${"[".repeat(1001)}${"]".repeat(1001)}`)), { status: 400 });
  assert.doesNotThrow(() => parseJson(bytes(`${"[".repeat(1000)}${"]".repeat(1000)}`)));
});

test("a key __proto__ is rejected in any notation and at any place", () => {
  for (const text of ['{"__proto__":1}', '[[{"a":{"\\u005f_proto__":{}}}]]', '{"__proto_\\u005f":1}']) {
    assert.throws(() => parseJson(bytes(text)), { status: 400 }, text);
  }
  assert.deepEqual(parseJson(bytes('{"a":"__proto__"}')), { a: "__proto__" });
});
