import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { countKeys, locateDuplicate, repeatsMember } from "./json-members.ts";
import { outlineJson } from "./json-outline.ts";

function keysOf(text: string): number {
  return countKeys(JSON.parse(text), 1_000)!;
}

function isRepeating(text: string): boolean {
  return repeatsMember(text, keysOf(text));
}

interface Case {
  readonly text: string;
  readonly name: string;
  readonly parent: string;
  readonly line?: number;
  readonly column: number;
}

const duplicates: Case[] = [
  { text: '{"a":1,"a":2}', name: "a", parent: "", column: 8 },
  { text: '{"a":1,"\\u0061":1}', name: "a", parent: "", column: 8 },
  { text: '{"":1,"":1}', name: "", parent: "", column: 7 },
  { text: '{"1":1,"2":1,"1":1}', name: "1", parent: "", column: 14 },
  { text: '{"__proto__":1,"__proto__":1}', name: "__proto__", parent: "", column: 16 },
  { text: '{"a":{"b":[1,{"c":0,"c":0}]}}', name: "c", parent: "a.b[1]", column: 21 },
  { text: '[[],{},{"x":{},"x" \t:[]}]', name: "x", parent: "[2]", column: 16 },
  { text: '{"a":{"a":1},\n "b":"x:\\"{",\n  "a":1}', name: "a", parent: "", line: 3, column: 3 },
  {
    text: `{"${"k".repeat(100)}\\"":1,"${"k".repeat(100)}\\"":1}`,
    name: `${"k".repeat(100)}"`,
    parent: "",
    column: 109,
  },
  { text: '{"a":{"deep":{"er":1}},"a":1}', name: "a", parent: "", column: 24 },
];
for (const { text, name, parent, line = 1, column } of duplicates) {
  test(`located: ${text}`, () => {
    assert.equal(isRepeating(text), true);
    assert.deepEqual(locateDuplicate(text), { name, parent, line, column });
  });
}

test("a text has as many members as its value has keys, whatever the notation of its strings", () => {
  const string = fc.string({
    unit: fc.constantFrom('"', "\\", ":", "{", "]", ",", "a", "é", "\n"),
    maxLength: 80,
  });
  // V8 may mistake a name that ends with an escape for one that ends with a backslash (nodejs/node#63785).
  const name = string.map((text) => `${text}.`);
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, 1, true),
      string,
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(name, tie("value"), { maxKeys: 3 }),
    ),
  }));
  fc.assert(
    fc.property(value, fc.constantFrom(0, 2), (input, space) => {
      const text = JSON.stringify(input, undefined, space);
      assert.equal(outlineJson(text).members, keysOf(text));
      assert.equal(isRepeating(text), false);
      assert.equal(locateDuplicate(text), undefined);
    }),
    { numRuns: 500 },
  );
});

test("a duplicate member is found at any place", () => {
  /** A value as a list of members, so that names may repeat. The gap precedes the member's colon. */
  type Node = { members: [name: string, gap: string, Node][] } | { items: Node[] } | { plain: unknown };
  const write = (node: Node): string => {
    if ("plain" in node) return JSON.stringify(node.plain);
    if ("items" in node) return `[${node.items.map(write).join(",")}]`;
    return `{${node.members.map(([name, gap, of]) => `${JSON.stringify(name)}${gap}:${write(of)}`).join(" , ")}}`;
  };
  const repeats = (node: Node): boolean => {
    if ("plain" in node) return false;
    if ("items" in node) return node.items.some(repeats);
    const names = node.members.map(([name]) => name);
    return new Set(names).size < names.length || node.members.some(([, , of]) => repeats(of));
  };
  const plain = fc.constantFrom<unknown>(1, "a", ":", "a:b", "12:30:00", "a::b", " :", '":', "\n:", null);
  const name = fc.constantFrom("a", "b", "c:d", '"x', "\\x");
  const gap = fc.constantFrom("", "", " ", "\t", "\r\n");
  const { node } = fc.letrec<{ node: Node }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      fc.record({ plain }),
      fc.record({ items: fc.array(tie("node"), { maxLength: 3 }) }),
      fc.record({ members: fc.array(fc.tuple(name, gap, tie("node")), { maxLength: 3 }) }),
    ),
  }));
  fc.assert(
    fc.property(node, (tree) => {
      const text = write(tree);
      const found = outlineJson(text).members !== keysOf(text);
      assert.equal(isRepeating(text), found, text);
      assert.equal(found, repeats(tree), text);
      assert.equal(locateDuplicate(text) !== undefined, found, text);
    }),
    { numRuns: 1000 },
  );
});

test("the outline counts members, containers and depth outside strings", () => {
  assert.deepEqual(outlineJson('{"a:{[":[{},{"b":"}]:\\""}],"c":[[]]}'), {
    members: 3,
    containers: 6,
    largest: 2,
    depth: 3,
  });
  assert.deepEqual(outlineJson("7"), { members: 0, containers: 0, largest: 0, depth: 0 });
});

test("colons are counted in every part of a long text", () => {
  const members = Array.from({ length: 20_000 }, (_, at) => `"${at}":1`);
  assert.equal(isRepeating(`{${members.join()}}`), false);
  assert.equal(isRepeating(`{${members.join()},"7":1}`), true);
  assert.equal(isRepeating(`{${members.join()},"x":"${":".repeat(100_000)}"}`), false);
  const times = members.map((_, at) => `"${at}":"12:30:00"`);
  assert.equal(isRepeating(`{${times.join()}}`), false);
  assert.equal(isRepeating(`{${times.join()},"7":1}`), true);
});

test("keys are counted down to a depth", () => {
  const nested = (depth: number): unknown => JSON.parse('{"a":['.repeat(depth / 2) + "]}".repeat(depth / 2));
  assert.equal(countKeys(nested(1_000), 1_000), 500);
  assert.equal(countKeys([1, nested(1_000)], 1_000), undefined);
  assert.equal(countKeys(nested(500_000), 1_000), undefined);
  assert.equal(countKeys("a", 0), 0);
});

test("malformed text ends the scan", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('"', "\\", "{", "}", "[", "]", ":", ",", "a") }),
      (text) => {
        outlineJson(text);
      },
    ),
  );
});
