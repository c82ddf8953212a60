import assert from "node:assert/strict";
import { test } from "node:test";
import { rule } from "./decide.fixture.ts";
import { replaced } from "./replaces.ts";

const r = (name: string, ...replaces: string[]) => rule({ name, replaces });

const cases: [string, (ReturnType<typeof r> | undefined)[], boolean[]][] = [
  ["nothing replaces", [r("a"), r("b")], [false, false]],
  ["one replaces another", [r("a"), r("b", "a")], [true, false]],
  ["the order does not matter", [r("b", "a"), r("a")], [false, true]],
  ["a replaced rule replaces nothing", [r("a"), r("b", "a"), r("c", "b")], [false, true, false]],
  ["a chain of four", [r("a"), r("b", "a"), r("c", "b"), r("d", "c")], [true, false, true, false]],
  ["several by one", [r("a"), r("b"), r("", "a", "b")], [true, true, false]],
  ["all of one name", [r("a"), r("a"), r("b", "a")], [true, true, false]],
  ["rules without a name stay", [r(""), r("b", "")], [false, false]],
  ["descriptors without a rule", [undefined, r("a"), r("b", "a")], [false, true, false]],
];
for (const [name, rules, expected] of cases) {
  test(`replaces: ${name}`, () => assert.deepEqual(replaced(rules), expected));
}
