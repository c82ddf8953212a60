import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { openApiDocument } from "../openapi/document.ts";
import { BindFaults } from "./bind/bind-faults.ts";
import { compileBinder } from "./bind/binder.ts";
import { json, signatureOf } from "./support.fixture.ts";

const DECLARATIONS = `
  interface Tree { name: string; children?: Tree[] }
  type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
  const LEVELS = ["low", "high"] as const;
  type Rec = { children?: Rec[]; a: number } | { children?: Rec[]; b: number } | { children?: Rec[]; c: string };
  type Inner = { a: number; b?: Inner } | { b: number };
  type Outer = { a: Inner; b: number } | { a: Inner; c: string };
  type Boxed = Record<string, BoxA> | Record<string, BoxB>;
  interface BoxA { a?: Boxed; b: 1 }
  interface BoxB { a?: Boxed; c: 1 }
`;

/** Types whose JSON values are not coerced, so that the binder and a validator of the documented schema must agree. */
const TYPES = [
  "{ a: string }",
  "{ a?: number | null; b: boolean }",
  "{ a: 'x' | 'y' | 1; b?: 'x' | null }",
  "{ a: string[]; b?: (number | null)[] }",
  "{ a: [number, string?] }",
  "{ a: [number, ...boolean[]] }",
  "{ a?: { b: { c?: number } } }",
  "{ a: { b: number } | { c: string } }",
  "{ a: { k: 'x'; n: number } | { k: 'y'; s: string } }",
  "{ k: 'x'; a: number } | { k: 'y'; b: string }",
  "{ a: string } | { b: number }",
  "{ a: number } & { b?: string }",
  "Partial<{ a: number; b: string }>",
  "Record<string, number>",
  "{ a: number; [name: string]: number }",
  "Record<string, string | number[]>",
  "Tree",
  "{ a: Json }",
  "{ a: Rec }",
  "{ a: Rec[] }",
  "{ a: Outer }",
  "{ a: { a: Outer; k: string } | { a: Outer; n: number } }",
  "{ a: Boxed }",
  "{ a?: (typeof LEVELS)[number] }",
  "{ /** @minimum 0 @maximum 1 */ a: number }",
  "{ /** @minLength 1 @maxLength 2 */ a: string; /** @pattern ^x */ b?: string }",
  "{ /** @minLength 1 @maxLength 2 */ a: number[] }",
  "{ /** @format integer */ a: number }",
  "{ /** @integer */ a: number }",
  "{ /** @integer @maximum 5 */ a?: number | null }",
  "{ a: unknown }",
  "{ a: object }",
];

const leaf = fc.constantFrom<unknown>(
  null,
  true,
  false,
  0,
  1,
  0.5,
  -1,
  "",
  "x",
  "y",
  "xx",
  "xyz",
  "low",
  "😀😀",
  2 ** 40,
);
const value = fc.letrec((tie) => ({
  it: fc.oneof(
    { maxDepth: 3, depthIdentifier: "json" },
    { weight: 3, arbitrary: leaf },
    fc.array(tie("it"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "c", "k", "n", "s", "name", "children"), tie("it"), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  ),
})).it;
const body = fc.dictionary(fc.constantFrom("a", "b", "k", "name", "children"), value, {
  maxKeys: 4,
  noNullPrototype: true,
});

suite("the binder accepts the same values as the document's schema", () => {
  for (const type of TYPES) {
    test(type, () => {
      const signature = signatureOf(`${DECLARATIONS} class Example { POST(it: ${type}) {} }`);
      const binder = compileBinder(signature);
      const document = openApiDocument(
        { classes: [{ name: "Example", path: "/", verbs: new Map([["POST", { signature }]]) }] },
        { title: "x", version: "1" },
      );
      const ajv = new Ajv2020({ strict: false, unicodeRegExp: true });
      ajv.addSchema({ $id: "document", ...document });
      const pointer = "document#/paths/~1/post/requestBody/content/application~1json/schema";
      const validate = ajv.compile({ $ref: pointer });
      fc.assert(
        fc.property(body, (it) => {
          const result = binder.bind({ segments: [], query: "", body: json(it) });
          const isValid = validate(it);
          const why =
            result instanceof BindFaults ? JSON.stringify(result.faults) : JSON.stringify(validate.errors);
          assert.equal(!(result instanceof BindFaults), isValid, why);
        }),
        { numRuns: 500 },
      );
    });
  }
});
