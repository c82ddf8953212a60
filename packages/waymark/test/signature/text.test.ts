import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { binderOf, bound, input } from "./support.ts";

type Expected = { fault: string } | { value: unknown };
const MUST = (what: string): Expected => ({ fault: `must be ${what}` });
const TOO_LARGE: Expected = {
  fault: "is too large an integer to be exact: it must be within ±9007199254740991",
};
const UNREADABLE: Expected = { fault: "unreadable" };
const IS = (value: unknown): Expected => ({ value });

const TEMPLATE = "`$" + "{'a' | 'b'}-$" + "{1 | 2}`";

/** type, text of the path segment, what comes of it */
const CASES: readonly (readonly [type: string, text: string, expected: Expected])[] = [
  ["string", "hello", IS("hello")],
  ["string", "a b/ü", IS("a b/ü")],
  ["string", "__proto__", IS("__proto__")],
  ["number", "12", IS(12)],
  ["number", "0", IS(0)],
  ["number", "-0", IS(-0)],
  ["number", "-7.25", IS(-7.25)],
  ["number", "1e3", IS(1000)],
  ["number", "1E+3", IS(1000)],
  ["number", "1e300", IS(1e300)],
  ["number", "9007199254740991", IS(9007199254740991)],
  ["number", "-9007199254740991", IS(-9007199254740991)],
  ["number", "999999999999999", IS(999999999999999)],
  ["number", "9007199254740992", TOO_LARGE],
  ["number", "9007199254740993", TOO_LARGE],
  ["number", "-9007199254740993", TOO_LARGE],
  ["number", "9007199254740993.5", IS(9007199254740994)],
  ["number", "1e400", { fault: "is too large a number" }],
  ["number", "007", MUST("a number")],
  ["number", "01.5", MUST("a number")],
  ["number", "+1", MUST("a number")],
  ["number", ".5", MUST("a number")],
  ["number", "5.", MUST("a number")],
  ["number", "0x10", MUST("a number")],
  ["number", "1_000", MUST("a number")],
  ["number", " 1", MUST("a number")],
  ["number", "1 ", MUST("a number")],
  ["number", "1,5", MUST("a number")],
  ["number", "NaN", MUST("a number")],
  ["number", "Infinity", MUST("a number")],
  ["number", "12abc", MUST("a number")],
  ["number", "١٢", MUST("a number")],
  ["bigint", "9007199254740993", IS(9007199254740993n)],
  ["bigint", "-1", IS(-1n)],
  ["bigint", "1.0", MUST("an integer")],
  ["bigint", "0x1", MUST("an integer")],
  ["bigint", "01", MUST("an integer")],
  ["bigint", "1n", MUST("an integer")],
  ["bigint", "9".repeat(1000), IS(BigInt("9".repeat(1000)))],
  ["bigint", "9".repeat(1001), MUST("an integer")],
  ["boolean", "true", IS(true)],
  ["boolean", "TRUE", IS(true)],
  ["boolean", "Yes", IS(true)],
  ["boolean", "on", IS(true)],
  ["boolean", "1", IS(true)],
  ["boolean", "false", IS(false)],
  ["boolean", "No", IS(false)],
  ["boolean", "oFF", IS(false)],
  ["boolean", "0", IS(false)],
  ["boolean", "2", MUST("true or false")],
  ["boolean", "t", MUST("true or false")],
  ["boolean", "truely", MUST("true or false")],
  ["Date", "2026-11-20", IS(new Date("2026-11-20T00:00:00Z"))],
  ["Date", "2026-11-20T06:05", IS(new Date("2026-11-20T06:05:00Z"))],
  ["Date", "2026-11-20T06:05:03", IS(new Date("2026-11-20T06:05:03Z"))],
  ["Date", "2026-11-20T06:05:03.5Z", IS(new Date("2026-11-20T06:05:03.500Z"))],
  ["Date", "2026-11-20T06:05:03.123456789Z", IS(new Date("2026-11-20T06:05:03.123Z"))],
  ["Date", "2026-11-20t06:05:03z", IS(new Date("2026-11-20T06:05:03Z"))],
  ["Date", "2026-11-20 06:05:03", IS(new Date("2026-11-20T06:05:03Z"))],
  ["Date", "2026-11-20T06:05:03+02:00", IS(new Date("2026-11-20T04:05:03Z"))],
  ["Date", "2026-11-20T06:05:03-0530", IS(new Date("2026-11-20T11:35:03Z"))],
  ["Date", "2026-11-20T06:05:03+02", IS(new Date("2026-11-20T04:05:03Z"))],
  ["Date", "2026-11-20T06:05:03 02:00", IS(new Date("2026-11-20T04:05:03Z"))],
  ["Date", "2024-02-29", IS(new Date("2024-02-29T00:00:00Z"))],
  ["Date", "0001-01-01", IS(new Date("0001-01-01T00:00:00Z"))],
  ["Date", "+010000-01-01T00:00:00Z", IS(new Date("+010000-01-01T00:00:00Z"))],
  ["Date", "2023-02-29", MUST("a date or time (ISO 8601)")],
  ["Date", "2026-04-31", MUST("a date or time (ISO 8601)")],
  ["Date", "2026-13-01", MUST("a date or time (ISO 8601)")],
  ["Date", "2026-00-10", MUST("a date or time (ISO 8601)")],
  ["Date", "2026-11-20T24:00", MUST("a date or time (ISO 8601)")],
  ["Date", "2026-11-20T06:60", MUST("a date or time (ISO 8601)")],
  ["Date", "2026-11-20T06:05:60", MUST("a date or time (ISO 8601)")],
  ["Date", "2026-11-20T06:05:03+24:00", MUST("a date or time (ISO 8601)")],
  ["Date", "-000000-01-01", MUST("a date or time (ISO 8601)")],
  ["Date", "2026", MUST("a date or time (ISO 8601)")],
  ["Date", "20.11.2026", MUST("a date or time (ISO 8601)")],
  ["Date", "11/20/2026", MUST("a date or time (ISO 8601)")],
  ["Date", "1700000000000", MUST("a date or time (ISO 8601)")],
  ["Date", "+999999-01-01", MUST("a date or time (ISO 8601)")],
  ["URL", "https://example.org/a?b=c", IS(new URL("https://example.org/a?b=c"))],
  ["URL", "/relative", MUST("an absolute URL")],
  ["URL", "http://", MUST("an absolute URL")],
  ['"a"', "a", IS("a")],
  ['"a"', "A", MUST('"a"')],
  ["5", "5", IS(5)],
  ["5", "5.0", IS(5)],
  ["5", "6", MUST("5")],
  ["-1", "-1", IS(-1)],
  ["10n", "10", IS(10n)],
  ["10n", "11", MUST("10")],
  ["true", "yes", IS(true)],
  ["true", "no", MUST("true")],
  ["`x`", "x", IS("x")],
  ['"asc" | "desc"', "desc", IS("desc")],
  ['"asc" | "desc"', "up", MUST('"asc" or "desc"')],
  ["string | number", "12", IS(12)],
  ["string | number", "012", IS("012")],
  ['number | "all"', "all", IS("all")],
  ['number | "all"', "none", MUST('a number or "all"')],
  ["string | bigint | number", "9007199254740993", IS(9007199254740993n)],
  ["bigint | number", "12", IS(12)],
  ["string | boolean", "yes", IS(true)],
  ["boolean | number", "1", IS(1)],
  ["1 | boolean", "1", IS(1)],
  ["string | Date", "2026-11-20", IS(new Date("2026-11-20T00:00:00Z"))],
  ["string | Date", "tomorrow", IS("tomorrow")],
  ["string | URL", "https://example.org", IS(new URL("https://example.org"))],
  ["URL | Date", "https://example.org", IS(new URL("https://example.org"))],
  ["URL | Date", "x", MUST("an absolute URL or a date or time (ISO 8601)")],
  ['"2026-11-20" | Date', "2026-11-20", IS("2026-11-20")],
  ["number[]", "3", IS([3])],
  ["string | string[]", "3", IS("3")],
  ["readonly string[]", "3", IS(["3"])],
  ["[number]", "3", IS([3])],
  ["[number, number]", "3", MUST("a list of 2, got 1")],
  ["unknown", "3", IS("3")],
  ["any", "3", IS("3")],
  ["string & { readonly brand: unique symbol }", "x", UNREADABLE],
  ["string & { readonly brand: 'Id' }", "x", IS("x")],
  ["number & {}", "4", IS(4)],
  [TEMPLATE, "b-2", IS("b-2")],
  [TEMPLATE, "b-3", MUST('"a-1", "a-2", "b-1" or "b-2"')],
  ["Exclude<'a' | 'b' | 'c', 'b'>", "c", IS("c")],
  ["Extract<'a' | 'b' | 'c', 'b' | 'd'>", "b", IS("b")],
  ["NonNullable<'a' | null | undefined>", "a", IS("a")],
  ["(number)", "4", IS(4)],
  ["{ x: number }", '{"x":1}', IS({ x: 1 })],
  ["{ x: number }", "{", MUST("an object, written as JSON")],
  ["{ x: number }", "[1]", MUST("an object, got a list")],
];

suite("a path segment becomes what the type says", () => {
  for (const [type, text, expected] of CASES) {
    test(`${type} <- ${text.length > 40 ? `${text.slice(0, 40)}...` : text}`, () => {
      if (expected === UNREADABLE) {
        assert.throws(() => binderOf(`GET(it: ${type}, last: string)`), { code: "UNREADABLE_TYPE" });
        return;
      }
      // a second parameter keeps an object type from taking the keyword arguments
      const binder = binderOf(`GET(it: ${type}, last: string)`);
      const actual = bound(binder, { segments: [text, "end"], query: "" });
      const wanted = "fault" in expected ? [`400 path.it ${expected.fault}`] : [expected.value, "end"];
      assert.deepEqual(actual, wanted);
    });
  }
});

/** type of the keyword `it`, query, what comes of it */
const QUERIES: readonly (readonly [type: string, query: string, expected: unknown])[] = [
  ["it: string", "it=", { it: "" }],
  ["it: string", "it", { it: "" }],
  ["it: string", "it=a+b%20c%2B", { it: "a b c+" }],
  ["it: string", "%69t=x", { it: "x" }],
  ["it: string", "it=a=b", { it: "a=b" }],
  ["it: string", "&&it=a&", { it: "a" }],
  ["it: string", "it=%zz", ["400 query.it has a malformed percent-escape"]],
  ["it: string", "it=%ff", ["400 query.it has a malformed percent-escape"]],
  ["it: string", "it=%", ["400 query.it has a malformed percent-escape"]],
  ["it: string", "%=1", ["400 query.% has a malformed percent-escape"]],
  ["it: string", "it=1&it=2", ["400 query.it must come once, came 2 times"]],
  ["it: string", "", ["400 query.it is required"]],
  [
    "it: string",
    "other=1",
    ["400 query.it is required", "400 query.other is not an argument of this method"],
  ],
  ["it?: string", "", {}],
  ["it: string | undefined", "", {}],
  ["it: boolean", "it", { it: true }],
  ["it: boolean", "it=", { it: true }],
  ["it: boolean", "it=off", { it: false }],
  ["it: boolean | null", "it", { it: null }],
  ["it: string | null", "it=", { it: null }],
  ["it: number | null", "it=", { it: null }],
  ["it: number | null", "it=4", { it: 4 }],
  ["it: number", "it=", ["400 query.it must be a number"]],
  ["it: null", "it=x", ["400 query.it must be null"]],
  ['it: "" | null', "it=", { it: "" }],
  ["it: Date | null", "it=", { it: null }],
  ["it: string[]", "it=a&it=b", { it: ["a", "b"] }],
  ["it: string[]", "it=a", { it: ["a"] }],
  ["it: string[]", "it=", { it: [""] }],
  [
    "it: number[]",
    "it=1&it=x&it=y",
    ["400 query.it[1] must be a number", "400 query.it[2] must be a number"],
  ],
  ["it: number[] | undefined", "it=1", { it: [1] }],
  ["it: Array<boolean>", "it&it=no", { it: [true, false] }],
  ["it: ReadonlyArray<number>", "it=1", { it: [1] }],
  ["it: string | string[]", "it=a", { it: "a" }],
  ["it: string | string[]", "it=a&it=b", { it: ["a", "b"] }],
  ["it: number | string[]", "it=a", { it: ["a"] }],
  ["it: number | string", "it=1&it=2", ["400 query.it must come once, came 2 times"]],
  ["it: [number, number]", "it=1&it=2", { it: [1, 2] }],
  ["it: [number, string?]", "it=1", { it: [1] }],
  ["it: [x: number, ...rest: string[]]", "it=1&it=b&it=c", { it: [1, "b", "c"] }],
  ["it: [number, number]", "it=1&it=2&it=3", ["400 query.it must be a list of 2, got 3"]],
  ["it: [number, string?]", "it=1&it=a&it=b", ["400 query.it must be a list of 1 to 2, got 3"]],
  ["it: [number, number]", "it=1&it=b", ["400 query.it[1] must be a number"]],
  ["it: { x: number }", 'it={"x":1}', { it: { x: 1 } }],
  ["it: { x: number }", 'it={"x":"1"}', ["400 query.it.x must be a number, got a string"]],
  ["it: { x: number }[]", 'it={"x":1}&it={"x":2}', { it: [{ x: 1 }, { x: 2 }] }],
  ["it: number[][]", "it=[1]&it=[2,3]", { it: [[1], [2, 3]] }],
  ["it: number[][]", "it=[1]&it=2", ["400 query.it[1] must be a list, got a number"]],
  ["it: number[][]", "it=[1]&it=x", ["400 query.it[1] must be a list, written as JSON"]],
  ["it: [number, string][]", 'it=[1,"a"]', { it: [[1, "a"]] }],
  ["it: { x: unknown }", 'it={"x":{"__proto__":1}}', ["400 query.it must be an object, written as JSON"]],
  ["it: unknown", "it=1", { it: "1" }],
  ["it: unknown", "it=1&it=2", { it: ["1", "2"] }],
  ["it: File", "it=1", ["400 query.it must be a file (multipart/form-data)"]],
  ["[name: string]: string", "a=1&b=2", { a: "1", b: "2" }],
  ["[name: string]: number", "a=1&b=x", ["400 query.b must be a number"]],
  ["it: number; [name: string]: string | number", "it=1&b=x", { it: 1, b: "x" }],
  ["'a-b': number", "a-b=1", { "a-b": 1 }],
  ["__proto__: string", "__proto__=x", { ["__proto__"]: "x" }],
  ["constructor?: string", "constructor=x", { constructor: "x" }],
];

suite("the query becomes what the keyword object says", () => {
  for (const [type, query, expected] of QUERIES) {
    test(`{ ${type} } <- ?${query}`, () => {
      const actual = bound(binderOf(`GET(arguments_: { ${type} })`), input(`?${query}`));
      assert.deepEqual(actual, isFaults(expected) ? expected : [expected]);
    });
  }
});

const isFaults = (expected: unknown): boolean => Array.isArray(expected) && typeof expected[0] === "string";
