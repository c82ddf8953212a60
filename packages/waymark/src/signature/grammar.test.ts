import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { openApiDocument } from "../openapi/document.ts";
import { BindFaults } from "./bind/bind-faults.ts";
import { compileBinder } from "./bind/binder.ts";
import type { MethodSignature } from "./model/signature.ts";
import { SignatureError } from "./model/signature-error.ts";
import { json, signatureOf } from "./support.fixture.ts";

const DECLARATIONS = `
  interface Book { id: number; title: string; tags?: string[] }
  interface Tree { name: string; children?: Tree[] }
  type Pair<A, B = A> = { first: A; second?: B };
  type Shape = { kind: "circle"; r: number } | { kind: "box"; w: number };
  const COLORS = ["red", "green"] as const;
  const LIMITS = { small: 1, large: 2 } as const;
`;
const LEAVES = [
  "string",
  "number",
  "bigint",
  "boolean",
  "null",
  "undefined",
  "unknown",
  "any",
  "never",
  "object",
  "void",
  "Date",
  "URL",
  "'a'",
  "'id'",
  "1",
  "-1n",
  "true",
  "Book",
  "Tree",
  "Shape",
  "(typeof COLORS)[number]",
  "typeof LIMITS",
  "File",
  "Uint8Array",
];
const UNREADABLE = ["symbol", "Nowhere", "Map<string, string>"];
/** Types of any depth, readable and unreadable. */
const type = fc.letrec<{ it: string }>((tie) => {
  const it = tie("it");
  const wrap = (...parts: readonly string[]) =>
    fc
      .tuple(...parts.slice(1).map(() => it))
      .map((types) => parts[0] + types.map((own, index) => own + parts[index + 1]).join(""));
  return {
    it: fc.oneof(
      { maxDepth: 4, depthIdentifier: "type" },
      { weight: 8, arbitrary: fc.constantFrom(...LEAVES) },
      fc.constantFrom(...UNREADABLE),
      wrap("(", ")[]"),
      wrap("[", ", ", "?]"),
      wrap("[", ", ...(", ")[]]"),
      wrap("(", ") | (", ")"),
      wrap("(", ") & (", ")"),
      wrap("{ a: ", "; b?: ", " }"),
      wrap("{ [name: string]: ", " }"),
      wrap("Record<string, ", ">"),
      wrap("Record<", ", ", ">"),
      wrap("Partial<", ">"),
      wrap("Required<", ">"),
      wrap("Readonly<", ">"),
      wrap("Pick<", ", ", ">"),
      wrap("Omit<", ", ", ">"),
      wrap("keyof (", ")"),
      wrap("(", ")[", "]"),
      wrap("Pair<", ">"),
      wrap("Pair<", ", ", ">"),
      wrap("{ [K in keyof (", ")]?: K }"),
      wrap("{ [K in ", "]: ", " }"),
      wrap("Exclude<", ", ", ">"),
      wrap("NonNullable<", ">"),
    ),
  };
}).it;

function read(text: string): MethodSignature | undefined {
  try {
    return signatureOf(text);
  } catch (error) {
    assert.ok(error instanceof SignatureError, String((error as Error).stack));
    assert.ok(error.location, "the place is named");
    return undefined;
  }
}

suite("any type is read or rejected with its place", () => {
  test("a readable type is bound and documented", () => {
    let readable = 0;
    fc.assert(
      fc.property(type, type, fc.jsonValue({ maxDepth: 3 }), (one, other, value) => {
        const text = `${DECLARATIONS} class Example { POST(it: ${one}, { a, b }: { a: ${other}; b?: ${one} }): ${other} {} }`;
        const signature = read(text);
        if (!signature) return;
        readable++;
        assert.deepEqual(JSON.parse(JSON.stringify(signature)), signature);
        const binder = compileBinder(signature);
        for (const body of [value, { a: value }, { it: value, a: value, b: value }]) {
          const result = binder.bind({ segments: [], query: "a=1&b=x", body: json(body) });
          assert.ok(Array.isArray(result) || result instanceof BindFaults);
        }
        const document = openApiDocument(
          { classes: [{ name: "Example", path: "/", verbs: new Map([["POST", { signature }]]) }] },
          { title: "x", version: "1" },
        );
        const ajv = new Ajv2020({ strict: false });
        assert.ok(ajv.validateSchema(document.components.schemas as object), JSON.stringify(ajv.errors));
        ajv.addSchema({ $id: "document", ...document });
        for (const item of Object.values(document.paths)) {
          const schema = item.post!.requestBody?.content["application/json"]?.schema;
          if (schema) assert.ok(ajv.validateSchema(schema), JSON.stringify(ajv.errors));
        }
      }),
      { numRuns: 400 },
    );
    assert.ok(readable > 10, `only ${readable} were readable`);
  });

  test("any other text is read or rejected, too", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme-ascii", maxLength: 20 }), (text) => {
        try {
          signatureOf(`class Example { GET(it: ${text}) {} }`);
        } catch (error) {
          assert.ok(
            error instanceof SignatureError || /no method/.test(String(error)),
            String((error as Error).stack),
          );
        }
      }),
      { numRuns: 400 },
    );
  });
});
