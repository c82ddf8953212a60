import type { Case } from "./case.ts";

function types(name: string, query: string, json: unknown): Case {
  return { name, target: `/types?${query}`, status: 200, json };
}

function refused(name: string, query: string, fault: string): Case {
  return { name, target: `/types?${query}`, status: 400, faults: [fault] };
}

/** Conversions of text in a query. */
export const queryCases: readonly Case[] = [
  types("no query", "", {}),
  types("an integer", "number=12", { number: 12 }),
  types("a fraction", "number=-1.5e3", { number: -1500 }),
  refused("hexadecimal is not a number", "number=0x10", "query.number"),
  refused("a space is not a number", "number=+1", "query.number"),
  refused("an empty text is not a number", "number=", "query.number"),
  refused("NaN is not a number", "number=NaN", "query.number"),
  refused("Infinity is not a number", "number=Infinity", "query.number"),
  refused("a number has no leading zero", "number=007", "query.number"),
  refused("an integer beyond 2^53", "number=9007199254740993", "query.number"),
  types("a bigint", "bigint=9007199254740993", { bigint: "9007199254740993" }),
  refused("a fraction is not a bigint", "bigint=1.5", "query.bigint"),
  types("true", "flag=true", { flag: true }),
  types("yes in capitals", "flag=YES", { flag: true }),
  types("on", "flag=on", { flag: true }),
  types("1", "flag=1", { flag: true }),
  types("a flag without a value", "flag", { flag: true }),
  types("off", "flag=off", { flag: false }),
  types("no", "flag=No", { flag: false }),
  refused("maybe", "flag=maybe", "query.flag"),
  types("a date", "when=2026-02-28", { when: "2026-02-28T00:00:00.000Z" }),
  types("a time with an offset", "when=2026-02-28T12:00:00%2B02:00", { when: "2026-02-28T10:00:00.000Z" }),
  refused("an impossible day", "when=2026-02-30", "query.when"),
  refused("not a date", "when=tomorrow", "query.when"),
  types("a URL", "where=https%3A%2F%2Fexample.com%2Fa", { where: "https://example.com/a" }),
  refused("not a URL", "where=nowhere", "query.where"),
  types("a literal", "colour=green", { colour: "green" }),
  refused("another literal", "colour=blue", "query.colour"),
  types("a list", "tags=a&tags=b", { tags: ["a", "b"] }),
  types("a list of one", "tags=a", { tags: ["a"] }),
  types("a tuple", "pair=1&pair=x", { pair: [1, "x"] }),
  refused("a tuple too short", "pair=1", "query.pair"),
  refused("a list instead of one value", "number=1&number=2", "query.number"),
  types("a union takes the number", "either=5", { either: 5 }),
  types("a union takes the text", "either=five", { either: "five" }),
  types("empty is null where null is allowed", "none=", { none: null }),
  types("text where null is allowed", "none=x", { none: "x" }),
  refused("an unknown name", "colour=red&color=red", "query.color"),
  {
    name: "all faults together",
    target: "/types?number=x&flag=y&nope=1",
    status: 400,
    faults: ["query.flag", "query.nope", "query.number"],
  },
  {
    name: "faults of path and query together",
    target: "/foo/x?verbose=perhaps",
    status: 400,
    faults: ["path.id", "query.verbose"],
  },
  {
    name: "any name if the method accepts any",
    target: "/anything?a=1&b=2",
    status: 200,
    json: { a: "1", b: "2" },
  },
  {
    name: "__proto__ is an ordinary name",
    target: "/anything?__proto__=1&constructor=2",
    status: 200,
    text: '{"__proto__":"1","constructor":"2"}',
  },
  { name: "plus and escapes", target: "/anything?a+b=c+d%26%3D%2B", status: 200, json: { "a b": "c d&=+" } },
  { name: "an equals sign in a value", target: "/anything?a=b=c", status: 200, json: { a: "b=c" } },
  { name: "an empty name", target: "/anything?=x", status: 200, json: { "": "x" } },
  { name: "stray ampersands", target: "/anything?&&a=1&&", status: 200, json: { a: "1" } },
  { name: "a question mark in a value", target: "/anything?a=?", status: 200, json: { a: "?" } },
  { name: "a malformed escape in a value", target: "/anything?a=%zz", status: 400 },
  { name: "a malformed escape in a name", target: "/anything?%=1", status: 400 },
  { name: "invalid UTF-8 in a value", target: "/anything?a=%ff", status: 400 },
  {
    name: "a repeated name for a single text",
    target: "/anything?a=1&a=2",
    status: 400,
    faults: ["query.a"],
  },
  { name: "unknown names ignored by a class", target: "/lenient?a=1&b=2", status: 200, json: { a: 1 } },
  { name: "known names still checked there", target: "/lenient?a=x&b=2", status: 400, faults: ["query.a"] },
  {
    name: "too many names",
    target: `/anything?${Array.from({ length: 1001 }, (_, at) => `n${at}=`).join("&")}`,
    status: 400,
  },
  {
    name: "a name that the keyword object declares",
    method: "PUT",
    target: "/tail/1?id=2&name=x",
    status: 200,
    json: { id: 1, inner: 2, name: "x" },
  },
];
