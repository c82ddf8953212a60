/** Bodies that become the keyword object unchanged: the binder checks and counts them in one pass. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { countKeys } from "../http/json-members.ts";
import { BindFaults } from "./bind/bind-faults.ts";
import { binderOf, faultsOf, json, plain } from "./support.fixture.ts";

const DECLARATIONS = `
  interface Tree { name: string; children?: Tree[] }
  const LEVELS = ["low", "high"] as const;
`;

/** Types of which each body that fits becomes the keyword object unchanged. */
const WHOLE = [
  "{ a: string }",
  "{ a?: number | null; b: boolean }",
  "{ a: 'x' | 'y' | 1; b?: 'x' | null | true }",
  "{ a: string[]; b?: (number | null)[] }",
  "{ a?: { b: { c?: number } }; b?: { a: string; k?: string }[] }",
  "{ a: { b?: number } | null; k?: string | string[] }",
  "{ a: number } & { b?: string }",
  "Partial<{ a: number; b: string }>",
  "{ a?: (typeof LEVELS)[number] }",
  "{ /** @minimum 0 @maximum 1 */ a: number; b?: { /** @integer */ n: number } }",
  "{ /** @minLength 1 @maxLength 2 */ a: string }",
  "{ /** @minLength 1 @maxLength 2 @uniqueItems */ a: number[] }",
  "{ a?: string }",
];

/** Types of which the binder converts the body, or leaves the check of some members to `bind`. */
const OTHERS = [
  "{ a: Date }",
  "{ a?: string; b: bigint }",
  "{ a: [number, string?] }",
  "{ a: { b: number } | { c: string } }",
  "{ a?: ({ b?: number } | null) | string[] }",
  "{ a: string } | { b: number }",
  "{ a: number; [name: string]: number }",
  "Record<string, string | number[]>",
  "{ a?: unknown; b?: string }",
  "{ a: Tree }",
  "{ /** @pattern ^x */ a: string }",
  "{ constructor?: string; a?: string }",
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
  "low",
  "2020-01-01",
);
const names = fc.constantFrom("a", "b", "c", "k", "n", "name", "children", "constructor");
const value = fc.letrec((tie) => ({
  it: fc.oneof(
    { maxDepth: 3, depthIdentifier: "json" },
    { weight: 4, arbitrary: leaf },
    fc.array(tie("it"), { maxLength: 3 }),
    fc.dictionary(names, tie("it"), { maxKeys: 3, noNullPrototype: true }),
  ),
})).it;
const body = fc.oneof(fc.dictionary(names, value, { maxKeys: 3, noNullPrototype: true }), {
  weight: 1,
  arbitrary: value,
});

for (const [types, isWhole] of [
  [WHOLE, true],
  [OTHERS, false],
] as const) {
  suite(isWhole ? "a body that fits is counted" : "a body that is counted fits", () => {
    for (const type of types) {
      test(type, () => {
        const binder = binderOf(`POST(it: ${type})`, DECLARATIONS);
        fc.assert(
          fc.property(body, (it) => {
            const members = binder.countMembers?.(it);
            const bound = binder.bind({ segments: [], query: "", body: json(it) });
            const fits = !(bound instanceof BindFaults);
            if (isWhole) assert.equal(members !== undefined, fits);
            if (members === undefined) return;
            assert.equal(members, countKeys(it, 100));
            const whole = binder.bind({
              segments: [],
              query: "",
              body: { kind: "json", value: it, isWhole: true },
            });
            assert.deepEqual([fits, plain(whole)], [true, plain(bound)]);
          }),
          { numRuns: 300 },
        );
      });
    }
  });
}

test("the members of nested objects are counted, in lists and in unions", () => {
  const { countMembers } = binderOf(
    "POST(it: { a?: { b: { c?: number } }; b?: { a: string; k?: string[] }[]; c: { a: boolean } | null })",
  );
  const inner = fc.record({ c: fc.integer() }, { requiredKeys: [], noNullPrototype: true });
  const item = fc.record(
    { a: fc.string(), k: fc.array(fc.string()) },
    { requiredKeys: ["a"], noNullPrototype: true },
  );
  const it = fc.record(
    {
      a: fc.record({ b: inner }, { noNullPrototype: true }),
      b: fc.array(item),
      c: fc.option(fc.record({ a: fc.boolean() }, { noNullPrototype: true })),
    },
    { requiredKeys: ["c"], noNullPrototype: true },
  );
  fc.assert(
    fc.property(it, (body) => {
      assert.equal(countMembers!(body), countKeys(body, 100));
    }),
  );
});

test("a number beyond 2^53 is left to the binder, which reads its notation", () => {
  const binder = binderOf("POST(it: { a: number; b?: number | null })");
  const count = binder.countMembers!;
  for (const number of [2 ** 53, -(2 ** 53), 1e20, 1e300, Number.POSITIVE_INFINITY]) {
    assert.equal(count({ a: number }), undefined);
    assert.equal(count({ a: 1, b: number }), undefined);
  }
  assert.equal(count({ a: Number.MAX_SAFE_INTEGER, b: null }), 2);
});

test("only a keyword object that the whole body fills is counted", () => {
  const none = [
    binderOf("POST(it: { a?: number } = {})"),
    binderOf("POST({ a, ...others }: { a: number; [name: string]: unknown })"),
    binderOf("POST(a: number)"),
    binderOf("POST(body: { a: number }[])"),
    binderOf("POST(it: { a: number })", "", { unknownKeywords: "ignore" }),
  ];
  for (const { countMembers } of none) assert.equal(countMembers, undefined);
});

test("the path fills its arguments beside a whole body", () => {
  const binder = binderOf("PUT(id: number, it: { id?: string; a: number })");
  const whole = { kind: "json", value: { a: 1 }, isWhole: true } as const;
  assert.equal(binder.countMembers!(whole.value), 1);
  assert.deepEqual(binder.bind({ segments: ["7"], query: "", body: whole }), [7, { a: 1 }]);
  assert.deepEqual(faultsOf(binder.bind({ segments: ["x"], query: "", body: whole })), [
    "400 path.id must be a number",
  ]);
  assert.deepEqual(faultsOf(binder.bind({ segments: [], query: "", body: whole })), [
    "404 path.id is required",
  ]);
});
