import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { explainModuleError } from "./source/explain.ts";
import { VIRTUAL_FILE } from "./support.fixture.ts";

function explain(text: string): string[] {
  return explainModuleError(VIRTUAL_FILE, text).map(
    ({ location, message }) => `${location.line}:${location.column} ${message}`,
  );
}

/** text, place, message */
const CASES: readonly (readonly [text: string, place: string, message: RegExp])[] = [
  ["enum Level { Low }", "1:1", /cannot run an enum\. Write `const Level = \{ \.\.\. \} as const`/],
  ["\n  export const enum Level { Low }", "2:10", /cannot run an enum/],
  ["class A {\n  constructor(private x: number) {}\n}", "2:15", /parameter property\. Declare the field/],
  [
    "function log(a: unknown, b: unknown) {}\nclass A {\n  @log\n  GET() {}\n}",
    "3:3",
    /decorator\. Waymark needs none/,
  ],
  ["@((a: unknown) => {})\nclass A {}", "1:1", /decorator/],
  ["class A {\n  accessor x = 1;\n}", "2:3", /`accessor`\. Write a getter and a setter/],
  ["namespace N { export const x = 1; }", "1:1", /namespace\. Write a separate module/],
  ['import fs = require("fs");', "1:1", /Write `import x from "x"`/],
  ["export = 5;", "1:1", /Write `export \{ \.\.\. \}`/],
  [
    'import { Book } from "./models.ts";',
    "1:10",
    /`Book` is a type.*Write `import \{ type Book \} from "\.\/models\.ts"`/,
  ],
  ['import { COLORS, Book as Volume } from "./models.ts";', "1:18", /`Book` is a type/],
  ['import Book from "./models.ts";', "1:8", /Write `import type Book from/],
  ['export { Book } from "./models.ts";', "1:10", /Write `export \{ type Book \}`/],
  ["interface A { x: 1 }\nexport { A };", "2:10", /Write `export \{ type A \}`/],
  ["class A {\n  GET( {\n}", "3:2", /./],
  ["const x = ;", "1:11", /[Uu]nexpected/],
];

suite("syntax that Node cannot run is reported with its line and remedy", () => {
  for (const [text, place, message] of CASES) {
    test(JSON.stringify(text), () => {
      const [first, ...others] = explain(text);
      assert.ok(first, "nothing was found");
      assert.deepEqual(others, []);
      assert.ok(first.startsWith(`${place} `), first);
      assert.match(first, message);
    });
  }
  test("several faults are listed in the order of the text", () => {
    const found = explain("enum A {}\nclass B { accessor x = 1 }\nenum C {}");
    assert.deepEqual(
      found.map((line) => line.split(" ")[0]),
      ["1:1", "2:11", "3:1"],
    );
  });
});

suite("syntax that Node can run is not reported", () => {
  const fine = [
    "declare enum Level { Low }",
    "declare namespace N { const x: number; }",
    "namespace N { export type A = 1; interface B {} }",
    "abstract class A { abstract x: number; declare y: string; constructor(x: number) {} }",
    'import { type Book, COLORS } from "./models.ts"; export { COLORS }; export type { Book };',
    'import type { Book } from "./models.ts"; const x = <T,>(y: T) => y as unknown satisfies unknown;',
    'import { Thing } from "./more.ts"; export { Thing };',
    'import { nothing } from "./gone.ts"; import { z } from "zod"; import fs from "node:fs";',
    "interface A {} const A = 1; export { A };",
  ];
  for (const text of fine) test(text, () => assert.deepEqual(explain(text), []));
});
