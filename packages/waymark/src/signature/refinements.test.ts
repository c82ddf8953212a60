import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { binderOf, bound, input, json, signatureOf } from "./support.fixture.ts";

/** a parameter with its comment, a text, the fault (none if it fits) */
const CASES: readonly (readonly [parameter: string, text: string, fault?: string])[] = [
  ["/** @minimum 1 */ it: number", "1"],
  ["/** @minimum 1 */ it: number", "0.5", "must be at least 1"],
  ["/** @maximum 10 */ it: number", "10"],
  ["/** @maximum 10 */ it: number", "11", "must be at most 10"],
  ["/** @minimum -1.5 @maximum 1.5 */ it: number", "-1.6", "must be at least -1.5"],
  ["/** @minimum 1 */ it: bigint", "0", "must be at least 1"],
  ["/** @minimum 1 */ it = 5", "0", "must be at least 1"],
  ["/** @minimum 1 */ it?: number", "0", "must be at least 1"],
  ["/** @minimum 1 */ it: number | 'all'", "all"],
  ["/** @minimum 1 */ it: number | 'all'", "0", "must be at least 1"],
  ["/** @exclusiveMinimum 1 */ it: number", "1.1"],
  ["/** @exclusiveMinimum 1 */ it: number", "1", "must be more than 1"],
  ["/** @exclusiveMaximum 1 */ it: bigint", "1", "must be less than 1"],
  ["/** @multipleOf 0.1 */ it: number", "0.3"],
  ["/** @multipleOf 0.1 */ it: number", "0.35", "must be a multiple of 0.1"],
  ["/** @multipleOf 5 */ it: bigint", "12", "must be a multiple of 5"],
  ["/** @multipleOf 3 */ it: number", "1000000000000", "must be a multiple of 3"],
  ["/** @type integer */ it: number", "1.5", "must be an integer"],
  ["/** @type int32 */ it: number", "2147483648", "must be a 32-bit integer"],
  ["/** @pattern /^[a-z]+$/u */ it: string", "A", "must match ^[a-z]+$"],
  ["/** @format date */ it: Date", "2026-01-31T00:00:00Z", "must be a date (YYYY-MM-DD)"],
  ["/** @format date-time */ it: Date", "2026-01-31", "must be a date and time with offset (RFC 3339)"],
  ["/** @minLength 2 */ it: string", "a", "must have at least 2 characters"],
  ["/** @minLength 1 @maxLength 2 */ it: string", "😀😀"],
  ["/** @maxLength 2 */ it: string", "😀😀😀", "must have at most 2 characters"],
  ["/** @maxLength 1 */ it: string", "ab", "must have at most 1 character"],
  ["/** @maxLength 3 */ it: string", "a\ud800b"],
  ["/** @pattern ^[a-z]+$ */ it: string", "abc"],
  ["/** @pattern ^[a-z]+$ */ it: string", "Abc", "must match ^[a-z]+$"],
  ["/** @pattern ^\\p{Lu} @maxLength 2 */ it: string", "Äb"],
  ["/** @pattern ^\\p{Lu} @maxLength 2 */ it: string", "Äbc", "must have at most 2 characters"],
  ["/** @pattern ^[a-z ]+@[a-z]+$ */ it: string", "a b@c"],
  ["/** @pattern ^a+$ */ it: string", "a".repeat(4_096)],
  ["/** @pattern ^a+$ */ it: string", "a".repeat(4_097), "must have at most 4096 characters"],
  ["/** @pattern ^a+$ */ it: string", "😀".repeat(4_097), "must have at most 4096 characters"],
  ["/** @pattern ^a+$ @maxLength 5000 */ it: string", "a".repeat(5_000)],
  ["/** @pattern ^a+$ @maxLength 5000 */ it: string", "a".repeat(5_001), "must have at most 5000 characters"],
  [
    "/** @maxLength 5000 @pattern ^(a+)+$ */ it: string",
    "a".repeat(5_001),
    "must have at most 5000 characters",
  ],
  ["/** @minLength 1 */ it: string", "a".repeat(100_000)],
  ["/** @format email */ it: string", "a.b+c@example.org"],
  ["/** @format email */ it: string", "a@b@c", "must be an e-mail address"],
  ["/** @format email */ it: string", "a@-b.org", "must be an e-mail address"],
  ["/** @format uuid */ it: string", "123e4567-e89b-12d3-a456-426614174000"],
  ["/** @format uuid */ it: string", "123e4567", "must be a UUID"],
  ["/** @format date */ it: string", "2024-02-29"],
  ["/** @format date */ it: string", "2023-02-29", "must be a date (YYYY-MM-DD)"],
  ["/** @format date-time */ it: string", "2024-02-29T00:00:00Z"],
  ["/** @format date-time */ it: string", "2024-02-29", "must be a date and time with offset (RFC 3339)"],
  ["/** @format time */ it: string", "23:59:59Z"],
  ["/** @format time */ it: string", "24:00:00Z", "must be a time with offset (RFC 3339)"],
  ["/** @format uri */ it: string", "urn:a:b"],
  ["/** @format uri */ it: string", "a b", "must be an absolute URI"],
  ["/** @format hostname */ it: string", "a.example"],
  ["/** @format hostname */ it: string", "a..b", "must be a host name"],
  ["/** @format ipv4 */ it: string", "127.0.0.1"],
  ["/** @format ipv4 */ it: string", "127.0.0.256", "must be an IPv4 address"],
  ["/** @format ipv4 */ it: string", "010.0.0.1", "must be an IPv4 address"],
  ["/** @format ipv6 */ it: string", "::1"],
  ["/** @format ipv6 */ it: string", "2001:DB8:0:0:8:800:200C:417A"],
  ["/** @format ipv6 */ it: string", "::ffff:192.0.2.1"],
  ["/** @format ipv6 */ it: string", "1::2::3", "must be an IPv6 address"],
  ["/** @format ipv6 */ it: string", "127.0.0.1", "must be an IPv6 address"],
  ["/** @format ipv6 */ it: string", "1", "must be an IPv6 address"],
  ["/** @format byte */ it: string", "aGk="],
  ["/** @format byte */ it: string", "aGk", "must be base64 text"],
  ["/** @format byte */ it: string", "aGkx"],
  ["/** @format byte */ it: string", "aA=="],
  ["/** @format byte */ it: string", "a===", "must be base64 text"],
  ["/** @format byte */ it: string", "aG=k", "must be base64 text"],
  ["/** @format byte */ it: string", "aGk==", "must be base64 text"],
  ["/** @format byte */ it: string", "a-_k", "must be base64 text"],
  ["/** @format password */ it: string", "x"],
  ["/** @integer */ it: number", "3"],
  ["/** @integer */ it: number", "3.0"],
  ["/** @integer */ it: number", "-9007199254740991"],
  ["/** @integer */ it: number", "1.5", "must be an integer"],
  ["/** @integer */ it: number", "1e300", "must be an integer within ±9007199254740991"],
  ["/** @integer */ it: number", "9007199254740992.0", "must be an integer within ±9007199254740991"],
  ["/** @integer @minimum 1 @maximum 5 */ it: number", "5"],
  ["/** @integer @minimum 1 @maximum 5 */ it: number", "6", "must be at most 5"],
  ["/** @integer */ it: bigint", "9007199254740993"],
  ["/** @integer */ it: number | 'all'", "all"],
  ["/** @integer */ it: number | 'all'", "1.5", "must be an integer"],
  ["/** @integer */ it: number[]", "1.5", "must be an integer"],
  ["/** @format integer */ it: number", "1e300", "must be an integer within ±9007199254740991"],
  ["/** @format integer */ it: number", "3"],
  ["/** @format integer */ it: number", "3.5", "must be an integer"],
  ["/** @format int32 */ it: number", "2147483647"],
  ["/** @format int32 */ it: number", "2147483648", "must be a 32-bit integer"],
  ["/** @format int64 */ it: bigint", "9223372036854775808", "must be a 64-bit integer"],
  ["/** @format double */ it: number", "3.5"],
  ["/** @format date */ it: Date", "2024-02-29"],
  ["/** @format date */ it: Date", "2024-02-29T01:00", "must be a date (YYYY-MM-DD)"],
  ["/** @pattern ^a */ it: string[]", "b", "must match ^a"],
  ["/** @minLength 2 */ it: string[]", "b", "must have at least 2 items"],
];

suite("refinements before a parameter", () => {
  for (const [parameter, text, fault] of CASES) {
    test(`${parameter} <- ${text.slice(0, 40)}${text.length > 40 ? ` (${text.length})` : ""}`, () => {
      const actual = bound(binderOf(`GET(${parameter})`), { segments: [text], query: "" });
      if (fault === undefined)
        assert.ok((actual as unknown[])[0] !== undefined && !String(actual).startsWith("4"), String(actual));
      else assert.deepEqual(actual, [`400 path.it ${fault}`]);
    });
  }
});

suite("places of refinements", () => {
  test("refinements follow @param and a description, several on a line", () => {
    const text = `
      class Example {
        /**
         * Finds a thing,
         * wherever it is.
         *
         * Slowly.
         *
         * @param id - The number @minimum 1 @maximum 5
         *   of the thing
         * @param options.lang The language @pattern ^[a-z]{2}$
         * @param size
         * @deprecated use another
         * @returns the thing
         */
        GET(id: number, { lang, size = 1 }: { lang?: string; size?: number }) {}
      }`;
    const signature = signatureOf(text);
    const [id, options] = signature.parameters;
    assert.equal(signature.description, "Finds a thing,\nwherever it is.\n\nSlowly.");
    assert.equal(signature.deprecated, true);
    assert.equal(id!.description, "The number");
    assert.deepEqual(id!.type, { kind: "number", refinements: { minimum: 1, maximum: 5 } });
    assert.ok(options!.type.kind === "object");
    assert.deepEqual(options!.type.properties, [
      {
        name: "lang",
        type: { kind: "string", refinements: { pattern: "^[a-z]{2}$" } },
        optional: true,
        description: "The language",
      },
      { name: "size", type: { kind: "number" }, optional: true, default: 1 },
    ]);
  });
  test("properties of interfaces and of type literals have refinements", () => {
    const declarations = `
      interface Book {
        /** The number of pages. @minimum 1 */
        pages: number;
        /**
         * @minLength 1
         * @maxLength 3
         */
        readonly title?: string;
      }`;
    const binder = binderOf("POST(book: Book & { /** @maximum 5 */ stars: number })", declarations);
    assert.deepEqual(bound(binder, input("", json({ pages: 0, title: "long", stars: 6 }))), [
      "400 body.pages must be at least 1",
      "400 body.title must have at most 3 characters",
      "400 body.stars must be at most 5",
    ]);
  });
  test("an alias has refinements, and its use adds further ones", () => {
    const declarations =
      "/** @minimum 1 */\nexport type Id = number;\n/** A text. @minLength 1 */ type Text = string;";
    const binder = binderOf("GET(/** @maximum 5 */ id: Id, text: Text)", declarations);
    assert.deepEqual(bound(binder, input("0/a")), ["400 path.id must be at least 1"]);
    assert.deepEqual(bound(binder, input("6/a")), ["400 path.id must be at most 5"]);
  });
  test("@param with a path refines a property of a named object", () => {
    const doc = "/** @param id The number. @minimum 1\n * @param book.id Another. @minimum 5 */";
    const binder = binderOf(`${doc} PUT(id: number, book: { id: number })`);
    assert.deepEqual(bound(binder, input("1?id=4")), ["400 query.id must be at least 5"]);
    assert.deepEqual(bound(binder, input("0?id=5")), ["400 path.id must be at least 1"]);
  });
  test("comments of other parameters and plain comments have no effect", () => {
    const binder = binderOf("GET(/** @minimum 5 */ a: number, b: number)");
    assert.deepEqual(bound(binder, input("5/1")), [5, 1]);
    assert.deepEqual(bound(binderOf("GET(/* @minimum 5 */ a: number)"), input("1")), [1]);
  });
  test("@param with a type, brackets and a default, as in plain JavaScript", () => {
    const text = "class A { /** @param {string} [name=x] The name @minLength 2 */ GET(name = 'ab') {} }";
    const [name] = signatureOf(text).parameters;
    assert.deepEqual(
      [name!.description, name!.type],
      ["The name", { kind: "string", refinements: { minLength: 2 } }],
    );
  });
  test("defaults are kept if JSON can represent them", () => {
    const [a, b, c, d] = signatureOf(
      "class A { GET(a = [1, -2], b = { x: 'y' } as { x: string }, c = 5n, d = new Date()) {} }",
    ).parameters;
    assert.deepEqual(
      [a!.default, b!.default, c!.default, d!.default],
      [[1, -2], { x: "y" }, undefined, undefined],
    );
  });
});

suite("a pattern that may backtrack without bound causes a warning with its place", () => {
  const warningsOf = (text: string): string[] => {
    const warnings: string[] = [];
    signatureOf(text, { warn: (message) => warnings.push(message) });
    return warnings;
  };
  const rows: readonly (readonly [text: string, place: string])[] = [
    ["class A {\n  GET(/** @pattern ^(a+)+$ */ it: string) {}\n}", "2:11"],
    ["class A {\n  GET({ it }: { /** @pattern ^(a+)+$ */ it?: string }) {}\n}", "2:21"],
    ["/** @pattern ^(a+)+$ */\ntype T = string;\nclass A {\n  GET(it: T[]) {}\n}", "1:5"],
    ["class A {\n  /** @param it @pattern ^(a+)+$ */\n  GET(it: string) {}\n}", "2:17"],
  ];
  for (const [text, place] of rows) {
    test(text.replaceAll("\n", " "), () => {
      const [warning = "", ...others] = warningsOf(text);
      assert.deepEqual(others, []);
      assert.ok(
        warning.includes(`virtual.ts:${place}: @pattern ^(a+)+$ may backtrack without bound`),
        warning,
      );
      assert.match(warning, /Write it so that no text matches in two ways/);
    });
  }
  test("a safe pattern, and one that only documents, cause no warning", () => {
    assert.deepEqual(warningsOf("class A { GET(/** @pattern ^a+$ */ it: string) {} }"), []);
    assert.deepEqual(warningsOf("/** @pattern ^(a+)+$ */ type T = string; class A { GET(): T {} }"), []);
  });
});

test("refinements bound the number of items and refuse equal ones", () => {
  const binder = binderOf(
    "POST({ it }: { /** @minItems 1 @maxItems 2 @uniqueItems */ it: { a: number; b?: number }[] })",
  );
  const rows = [
    [[{ a: 1 }, { a: 2 }], undefined],
    [[], "must have at least 1 item"],
    [[{ a: 1 }, { a: 2 }, { a: 3 }], "must have at most 2 items"],
    [
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      "must not have the same item twice",
    ],
  ] as const;
  for (const [it, fault] of rows) {
    const expected = fault ? [`400 body.it ${fault}`] : [{ it }];
    assert.deepEqual(bound(binder, input("", json({ it }))), expected);
  }
});

test("tags of other tools, and code in an example, are not refinements", () => {
  const comment = "/** @tip Use it. @since 1.0 @internal\n@example\n@Minimum() class A {} */";
  assert.deepEqual(bound(binderOf(`GET(${comment} it: number)`), input("1")), [1]);
});

suite("an invalid refinement prevents startup", () => {
  const rows: readonly (readonly [parameter: string, message: RegExp])[] = [
    ["/** @multipleOf 0 */ it: number", /@multipleOf needs a number above 0/],
    ["/** @minItems 1 */ it: string", /@minItems does not apply/],
    ["/** @type text */ it: number", /@type does not support "text"/],
    ["/** @Minimum 1 */ it: number", /@Minimum is unknown. Did you mean @minimum\?/],
    ["/** @pattern a @pattern b */ it: string", /@pattern contradicts the one that the type already has/],
    ["it: /** @minimum 1 */ number", /the tags of this comment refine nothing here/],
    ["/** @minimum x */ it: number", /virtual\.ts:2:\d+: @minimum needs a number, not "x"/],
    ["/** @minimum */ it: number", /@minimum needs a number/],
    ["/** @minLength -1 */ it: string", /@minLength needs a length/],
    ["/** @minLength 1.5 */ it: string", /@minLength needs a length/],
    ["/** @minimum 1 */ it: string", /@minimum does not apply to this type/],
    ["/** @minLength 1 */ it: number", /@minLength does not apply to this type/],
    ["/** @pattern ( */ it: string", /@pattern is not a regular expression/],
    ["/** @pattern */ it: string", /@pattern needs a regular expression/],
    ["/** @format zip */ it: string", /@format does not support "zip"; the formats are email, uuid/],
    [
      "/** @format int32 */ it: string",
      /@format does not apply to this type \("int32" is a format of numbers\)/,
    ],
    ["/** @minimum 1 */ it: 'a' | 'b'", /does not apply to this type/],
    ["/** @minimum 1 */ it: { x: number }", /does not apply to this type/],
    ["/** @minimum 1 */ it: unknown", /does not apply to this type/],
    ["{ it }: { /** @minimum 1 */ it: boolean }", /does not apply to this type/],
    ["/** @integer */ it: string", /@integer does not apply to this type/],
    ["/** @integer 5 */ it: number", /@integer takes no value, not "5"/],
  ];
  for (const [parameter, message] of rows) {
    test(parameter, () => {
      assert.throws(() => binderOf(`GET(${parameter})`), { code: "INVALID_REFINEMENT", message });
    });
  }
});
