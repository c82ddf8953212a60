import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { BindFaults } from "./bind/bind-faults.ts";
import type { Binder } from "./bind/binder.ts";
import { parseFields } from "./bind/fields.ts";
import type { BindInput, FormFields } from "./model/input.ts";
import { binderOf } from "./support.fixture.ts";

const RUNS = { numRuns: 300 };

const DECLARATIONS = `
  interface Tree { name: string; children?: Tree[]; meta?: Record<string, unknown> }
  type Shape = { kind: "circle"; r: number } | { kind: "box"; w: number; h?: bigint };
  type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
`;
const METHODS = [
  "GET()",
  "GET(id: number, { verbose = false }: { verbose?: boolean })",
  "GET(id: Date | bigint | URL | boolean | 'x', ...path: number[])",
  "POST({ ...keywords })",
  "POST(keywords: Record<string, unknown>)",
  "POST(keywords: Record<string, number | string[]>)",
  "POST(tree: Tree)",
  "POST(shape: Shape)",
  "POST(one: { a: string } | { b: number[]; c?: Shape })",
  "POST(body: Json)",
  "POST({ it, list, pair, file }: { it?: Json; list?: (number | null)[]; pair?: [Date, ...boolean[]]; file?: File | string })",
  "PUT(id: string, tree: Partial<Tree> & { id: number })",
];
const BINDERS: readonly (readonly [string, Binder])[] = METHODS.flatMap((method) => [
  [method, binderOf(method, DECLARATIONS)],
  [`${method}, ignoring`, binderOf(method, DECLARATIONS, { unknownKeywords: "ignore" })],
]);

const NAMES = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "id",
  "kind",
  "a",
  "b",
  "name",
  "children",
  "it",
  "list",
  "body",
];
const name = fc.oneof(fc.constantFrom(...NAMES), fc.string({ unit: "binary" }));
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    "",
    "1",
    "-1",
    "true",
    "2026-01-01",
    "http://x/",
    "{}",
    '{"__proto__":{"polluted":true}}',
    "[]",
    "circle",
    "box",
    "1e999",
    "9".repeat(400),
  ),
);
const query = fc.oneof(
  fc.string({ unit: "binary" }),
  fc
    .array(fc.tuple(name, text), { maxLength: 8 })
    .map((fields) => fields.map(([key, value]) => `${encode(key)}=${encode(value)}`).join("&")),
);
const encode = (value: string): string => encodeURIComponent(value.toWellFormed());
/** JSON.parse creates `__proto__` as an own property, unlike an object literal. */
function ownEntries(entries: readonly (readonly [string, unknown])[]): unknown {
  return JSON.parse(
    `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",")}}`,
  );
}

const json = fc
  .letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<unknown>(null, true, 0, -1.5, 2 ** 53, 1e300, "", "circle", "2026-01-01", "12"),
      fc.string(),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.array(fc.tuple(name, tie("value")), { maxLength: 5 }).map(ownEntries),
    ),
  }))
  .value.map((value): BindInput["body"] => ({ kind: "json", value }));
const form = fc
  .array(
    fc.tuple(
      name,
      fc.oneof(
        text,
        fc.record({
          filename: fc.string(),
          type: fc.constantFrom("", "text/plain", "\u0000"),
          bytes: fc.uint8Array({ maxLength: 8 }),
        }),
      ),
    ),
    { maxLength: 8 },
  )
  .map((fields): BindInput["body"] => ({ kind: "form", fields: fields as unknown as FormFields }));

const request: fc.Arbitrary<BindInput> = fc.record({
  segments: fc.array(text, { maxLength: 4 }),
  query,
  body: fc.oneof(fc.constant(undefined), json, form),
});

function isUnharmed(): boolean {
  return (
    Reflect.ownKeys(Object.prototype).length === PROTOTYPE_KEYS &&
    !("polluted" in {}) &&
    {}.constructor === Object
  );
}
const PROTOTYPE_KEYS = Reflect.ownKeys(Object.prototype).length;

/** Whether no object from the binder has a prototype that a client could have set. */
function hasOnlyKnownPrototypes(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isKnown = [
    null,
    Object.prototype,
    Array.prototype,
    Date.prototype,
    URL.prototype,
    File.prototype,
  ].includes(prototype as null);
  return isKnown && Object.values(value).every(hasOnlyKnownPrototypes);
}

/** Removes the creation time of each File. */
function withoutTimes(value: unknown): unknown {
  if (value instanceof File) return [value.name, value.type, value.size];
  if (Array.isArray(value)) return value.map(withoutTimes);
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== null) return value;
  return Object.entries(value).map(([key, own]) => [key, withoutTimes(own)]);
}

suite("any request results in arguments or faults", () => {
  for (const [method, binder] of BINDERS) {
    test(method, () => {
      fc.assert(
        fc.property(request, (given) => {
          const before = JSON.stringify(given.body);
          const result = binder.bind(given);
          assert.ok(isUnharmed());
          assert.equal(JSON.stringify(given.body), before, "the request was changed");
          if (result instanceof BindFaults) {
            assert.ok(result.faults.length > 0);
            for (const fault of result.faults) {
              assert.ok(["path", "query", "body"].includes(fault.in));
              assert.equal(typeof fault.name, "string");
              assert.ok(fault.message.length > 0);
            }
          } else {
            assert.ok(Array.isArray(result));
            assert.ok(hasOnlyKnownPrototypes(result));
          }
          // no result depends on an earlier request
          assert.deepEqual(withoutTimes(binder.bind(given)), withoutTimes(result));
        }),
        RUNS,
      );
    });
  }
});

suite("depth is bounded", () => {
  const nested = (depth: number, value: unknown) => {
    let it = value;
    for (let index = 0; index < depth; index++) it = [it];
    return it;
  };
  const binder = binderOf("POST({ it }: { it?: Json })", DECLARATIONS);
  const bind = (value: unknown) =>
    binder.bind({ segments: [], query: "", body: { kind: "json", value: { it: value } } });
  test("a value of a type that contains itself has a bounded depth", () => {
    assert.ok(Array.isArray(bind(nested(199, 1))));
    const result = bind(nested(100_000, 1));
    assert.ok(result instanceof BindFaults);
    assert.match(result.faults[0]!.message, /nested more than 200 levels deep/);
    assert.ok(Array.isArray(bind(nested(199, 1))), "and the next request starts anew");
  });
  test("JSON in a text has a bounded depth", () => {
    const text = `{"x":${"[".repeat(5_000)}${"]".repeat(5_000)}}`;
    const result = binderOf("GET({ it }: { it: { x: unknown } })").bind({
      segments: [],
      query: `it=${text}`,
    });
    assert.ok(result instanceof BindFaults);
  });
  test("lists of lists of texts end", () => {
    const lists = binderOf("GET({ it }: { it: List })", "type List = number | List[];");
    for (const query of ["it=x", "it=x&it=y", "it=[[x]]", "it=[[1]]"]) {
      assert.ok(lists.bind({ segments: [], query }) instanceof BindFaults === (query !== "it=[[1]]"), query);
    }
  });
});

suite("work and answers are bounded", () => {
  const bind = (method: string, value: unknown) =>
    binderOf(method, DECLARATIONS).bind({ segments: [], query: "", body: { kind: "json", value } });
  const many = (make: (index: number) => [string, unknown]) =>
    Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => make(index)));
  const rows: readonly (readonly [method: string, value: unknown])[] = [
    ["POST({ it }: { it: string[] })", { it: new Array(100_000).fill(0) }],
    ["POST({ it }: { it: string[][] })", { it: new Array(1_000).fill(new Array(1_000).fill(0)) }],
    ["POST({ it }: { it: [number, ...string[]] })", { it: new Array(100_000).fill(0) }],
    ["POST({ it }: { it: { a?: string } })", { it: many((index) => [`n${index}`, 0]) }],
    ["POST({ it }: { it: Record<string, string> })", { it: many((index) => [`n${index}`, 0]) }],
    [
      "POST({ a }: { a?: string })",
      Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`n${index}`, 0])),
    ],
  ];
  for (const [method, value] of rows) {
    test(`at most a hundred faults: ${method}`, () => {
      const result = bind(method, value);
      assert.ok(result instanceof BindFaults);
      assert.equal(result.faults.length, 100);
    });
  }
  test("long names are not repeated in full", () => {
    const long = "n".repeat(100_000);
    const rows = [
      bind("POST({ it }: { it: Record<string, string[]> })", { it: { [long]: new Array(200).fill(0) } }),
      bind("POST(it: Record<string, string[]>)", { [long]: new Array(200).fill(0) }),
      bind("POST({ a }: { a?: string })", { [long]: 0, [`${long} `]: 0 }),
      bind("POST({ it }: { it: { a?: string } })", { it: { [long]: 0 } }),
      binderOf("GET({ ...it })").bind({ segments: [], query: `${long}=%zz` }),
    ];
    for (const result of rows) {
      assert.ok(result instanceof BindFaults);
      assert.ok(JSON.stringify(result.faults).length < 30_000);
      assert.ok(result.faults.every((fault) => fault.name.length < 150));
    }
  });
  test("the path of a deep fault is shortened", () => {
    const long = "n".repeat(100);
    const declarations = "type Deep = { [name: string]: Deep } | number;";
    let it: unknown = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`end${index}`, "x"]));
    for (let level = 0; level < 150; level++) it = { [`${long}${level}`]: it };
    const binder = binderOf("POST({ it }: { it: Deep })", declarations);
    const result = binder.bind({ segments: [], query: "", body: { kind: "json", value: { it } } });
    assert.ok(result instanceof BindFaults);
    assert.equal(result.faults.length, 100);
    assert.ok(result.faults.every((fault) => fault.name.length < 600));
    assert.match(result.faults[99]!.name, /^it\.n{99}.*….*\.end99$/);
  });
  test("a union that contains itself is not tried in all combinations", () => {
    const declarations =
      "type Twin = { next?: Twin; a: string } | { next?: Twin; b: string } | { next?: Twin; c: string };";
    const binder = binderOf("POST({ it }: { it: Twin })", declarations);
    const nested = (depth: number) => {
      let it: object = { z: 1 };
      for (let index = 0; index < depth; index++) it = { next: it, c: "x" };
      return { segments: [], query: "", body: { kind: "json", value: { it } } } as const;
    };
    const result = binder.bind(nested(150));
    assert.ok(result instanceof BindFaults);
    const valid = {
      segments: [],
      query: "",
      body: { kind: "json", value: { it: { next: { b: "x" }, c: "y" } } },
    } as const;
    assert.ok(Array.isArray(binder.bind(valid)), "and the next request starts anew");
  });
});

suite("a text of many megabytes has a result and throws nothing", () => {
  const long = 24 * 1024 * 1024;
  const texts = [
    "9".repeat(long),
    `0.${"9".repeat(long)}`,
    "a".repeat(long),
    `00:00:00.${"9".repeat(long)}Z`,
    " ".repeat(long),
  ];
  const types = [
    "string",
    "number",
    "bigint",
    "boolean",
    "Date",
    "URL",
    "'a' | 1 | 2n",
    "number | Date | string",
  ];
  const formats = ["email", "uuid", "date", "date-time", "time", "uri", "hostname", "ipv4", "ipv6", "byte"];
  const pattern = "/** @pattern ^(?:[a-z]{4})*$ @maxLength 100000000 */ string";
  const all = [...types, ...formats.map((format) => `/** @format ${format} */ string`), pattern];
  for (const type of all) {
    test(type, () => {
      const [, comment = "", own] = /^(\/\*\*.*\*\/ )?(.*)$/.exec(type)!;
      const binder = binderOf(`POST({ it }: { ${comment}it: ${own} })`);
      for (const text of texts) {
        const result = binder.bind({
          segments: [],
          query: "",
          body: { kind: "form", fields: [["it", text]] },
        });
        assert.ok(Array.isArray(result) || result instanceof BindFaults);
        if (result instanceof BindFaults) assert.ok(JSON.stringify(result.faults).length < 1_000);
      }
    });
  }
});

suite("bound values have their types", () => {
  test("numbers from any text are finite and exact", () => {
    const binder = binderOf("GET(it: number)");
    fc.assert(
      fc.property(fc.oneof(text, fc.double().map(String), fc.bigInt().map(String)), (segment) => {
        const result = binder.bind({ segments: [segment], query: "" });
        if (result instanceof BindFaults) return;
        const [value] = result as [number];
        assert.ok(Number.isFinite(value));
        assert.equal(value, JSON.parse(segment));
      }),
      RUNS,
    );
  });
  test("every finite number survives JSON", () => {
    const binder = binderOf("GET(it: number)");
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        const segment = JSON.stringify(number);
        const result = binder.bind({ segments: [segment], query: "" });
        const isLost = /^-?\d+$/.test(segment) && !Number.isSafeInteger(number);
        if (isLost) assert.ok(result instanceof BindFaults);
        else assert.equal((result as number[])[0], JSON.parse(segment));
      }),
      RUNS,
    );
  });
  test("every date survives its ISO text", () => {
    const binder = binderOf("GET(it: Date)");
    const date = fc.date({
      noInvalidDate: true,
      min: new Date("-200000-01-01T00:00:00Z"),
      max: new Date("+200000-01-01T00:00:00Z"),
    });
    fc.assert(
      fc.property(date, (it) => {
        assert.deepEqual(binder.bind({ segments: [it.toISOString()], query: "" }), [it]);
      }),
      RUNS,
    );
  });
  test("bigints and texts stay unchanged", () => {
    const binder = binderOf("GET(it: bigint, text: string)");
    fc.assert(
      fc.property(fc.bigInt(), fc.string({ unit: "binary" }), (number, own) => {
        assert.deepEqual(binder.bind({ segments: [String(number), own], query: "" }), [number, own]);
      }),
      RUNS,
    );
  });
});

suite("queries are parsed by the URL standard", () => {
  test("fields are those of URLSearchParams, except for malformed escapes", () => {
    fc.assert(
      fc.property(query, (it) => {
        const own = parseFields(it, "query");
        if (!Array.isArray(own)) {
          assert.throws(() => it.split(/[&=]/).map((part) => decodeURIComponent(part)), URIError);
          return;
        }
        // the URL standard replaces lone surrogates with U+FFFD
        const expected = [...new URLSearchParams(it.startsWith("?") ? `?${it}` : it)];
        assert.deepEqual(
          own.map((pair) => pair.map((part) => part.toWellFormed())),
          expected,
        );
      }),
      RUNS,
    );
  });
});
