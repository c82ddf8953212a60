/** One construct of TypeScript as the type of a parameter. */
export interface Construct {
  readonly declarations?: string;
  readonly type: string;
  /** Whether the source alone shows the type, or only the compiler knows it. */
  readonly by: "source" | "compiler";
  readonly accepts: readonly unknown[];
  readonly refuses: readonly unknown[];
}

/** A construct that prevents the start. */
export interface RefusedConstruct {
  readonly declarations?: string;
  readonly type: string;
  readonly error: RegExp;
}

const BOOK = "interface Book { id: number; title: string; meta?: { isbn: string } }";
const BRAND = "declare const brand: unique symbol;";
const DEEP =
  "type DeepPartial<T> = T extends Date ? T : T extends object ? { [K in keyof T]?: DeepPartial<T[K]> } : T;";

export const CONSTRUCTS: Readonly<Record<string, Construct>> = {
  "Exclude from literals": {
    type: "Exclude<'a' | 'b' | 1, 'a'>",
    by: "source",
    accepts: ["b", 1],
    refuses: ["a"],
  },
  "Exclude a literal of boolean": {
    type: "Exclude<boolean, true>",
    by: "source",
    accepts: [false],
    refuses: [true],
  },
  "Exclude a primitive": {
    type: "Exclude<'a' | 1 | null, string>",
    by: "source",
    accepts: [1, null],
    refuses: ["a"],
  },
  "Exclude objects": {
    type: "Exclude<{ k: 'a'; x: 1 } | { k: 'b' }, { k: 'a' }>",
    by: "compiler",
    accepts: [{ k: "b" }],
    refuses: [{ k: "a", x: 1 }],
  },
  "Extract objects": {
    type: "Extract<{ k: 'a'; x: 1 } | { k: 'b' } | string, { k: string }>",
    by: "compiler",
    accepts: [{ k: "b" }, { k: "a", x: 1 }],
    refuses: ["a"],
  },
  "Extract from boolean": {
    type: "Extract<boolean | string, true>",
    by: "source",
    accepts: [true],
    refuses: [false, "x"],
  },
  "a record of numbers": {
    type: "Record<number, string>",
    by: "compiler",
    accepts: [{}, { 1: "a", "-20": "b" }],
    refuses: [{ a: "x" }, { 1: 2 }, { "01": "x" }],
  },
  "keys by a template literal": {
    type: "{ id: number; [name: `data-${string}`]: string | number }",
    by: "compiler",
    accepts: [
      { id: 1, "data-x": "y" },
      { id: 1, "data-": 2 },
    ],
    refuses: [
      { id: 1, data: "y" },
      { id: 1, "data-x": true },
    ],
  },
  "a record of template literals": {
    type: "Record<`x-${'a' | 'b'}`, number>",
    by: "source",
    accepts: [{ "x-a": 1, "x-b": 2 }],
    refuses: [{ "x-a": 1 }, { "x-a": 1, "x-b": 2, "x-c": 3 }],
  },
  "Required over an intersection with null": {
    type: "Required<{ a?: string | null } & { b?: number }>",
    by: "source",
    accepts: [{ a: null, b: 1 }],
    refuses: [{ a: null }, { b: 1 }, { a: 1, b: 1 }],
  },
  "Required over a union": {
    type: "Required<{ a?: string } | { b?: number }>",
    by: "compiler",
    accepts: [{ a: "x" }, { b: 1 }],
    refuses: [{}],
  },
  "Partial over a union": {
    type: "Partial<{ k: 'a'; x: number } | { k: 'b'; y: number }>",
    by: "compiler",
    accepts: [{}, { k: "a", x: 1 }, { y: 1 }],
    refuses: [{ k: "a", y: 1 }],
  },
  "`{}` is anything but null": {
    type: "{ it: {} }",
    by: "source",
    accepts: [{ it: 1 }, { it: "x" }, { it: {} }, { it: [null] }, { it: false }],
    refuses: [{ it: null }, {}],
  },
  "an empty interface": {
    declarations: "interface Empty {}",
    type: "{ it: Empty }",
    by: "source",
    accepts: [{ it: 1 }],
    refuses: [{ it: null }],
  },
  "`T & {}`": {
    type: "{ it: (string | null) & {} }",
    by: "source",
    accepts: [{ it: "a" }],
    refuses: [{ it: null }],
  },
  "a brand on a string": {
    type: "{ it: string & { __brand: 'id' } }",
    by: "source",
    accepts: [{ it: "a" }],
    refuses: [{ it: 1 }],
  },
  "a brand on Date": {
    type: "{ it: Date & { __brand: 'day' } }",
    by: "source",
    accepts: [{ it: "2026-01-31" }],
    refuses: [{ it: "x" }, { it: {} }],
  },
  "a brand on a list": {
    type: "{ it: string[] & { __brand: 'tags' } }",
    by: "source",
    accepts: [{ it: ["a"] }],
    refuses: [{ it: [1] }, { it: {} }],
  },
  "a brand by a unique symbol": {
    declarations: BRAND,
    type: "{ it: string & { readonly [brand]: 'id' } }",
    by: "compiler",
    accepts: [{ it: "a" }],
    refuses: [{ it: 1 }],
  },
  "an object with a brand by a unique symbol": {
    declarations: BRAND,
    type: "{ id: number } & { readonly [brand]: 'book' }",
    by: "compiler",
    accepts: [{ id: 1 }],
    refuses: [{}, { id: "1" }],
  },
  "an intersection with an index signature": {
    type: "{ [name: string]: string | number } & { id: number }",
    by: "source",
    accepts: [{ id: 1, a: "x" }],
    refuses: [{ id: "x" }, { id: 1, a: true }],
  },
  "an index signature that contradicts a property": {
    type: "{ [name: string]: number } & { id: string }",
    by: "source",
    accepts: [],
    refuses: [{ id: "x" }, { id: 1 }],
  },
  "a conditional type": {
    declarations: "type Id<T> = T extends string ? number : boolean;",
    type: "{ it: Id<'x'> }",
    by: "compiler",
    accepts: [{ it: 1 }],
    refuses: [{ it: true }],
  },
  "a distributive conditional type": {
    declarations: "type Box<T> = T extends unknown ? { value: T } : never;",
    type: "Box<string | number>",
    by: "compiler",
    accepts: [{ value: "x" }, { value: 1 }],
    refuses: [{ value: true }],
  },
  infer: {
    declarations: "type Item<T> = T extends readonly (infer U)[] ? U : never;",
    type: "{ it: Item<string[]> }",
    by: "compiler",
    accepts: [{ it: "x" }],
    refuses: [{ it: 1 }],
  },
  "a mapped type with `as`": {
    declarations: `${BOOK} type Prefixed = { [K in keyof Book as \`book_\${K}\`]: Book[K] };`,
    type: "Prefixed",
    by: "compiler",
    accepts: [{ book_id: 1, book_title: "x" }],
    refuses: [{ id: 1, title: "x" }],
  },
  DeepPartial: {
    declarations: `${BOOK} ${DEEP}`,
    type: "DeepPartial<Book>",
    by: "compiler",
    accepts: [{}, { meta: {} }, { meta: { isbn: "x" } }],
    refuses: [{ meta: { isbn: 1 } }, { x: 1 }],
  },
  Awaited: {
    declarations: "declare function load(): Promise<{ id: number }>;",
    type: "Awaited<ReturnType<typeof load>>",
    by: "compiler",
    accepts: [{ id: 1 }],
    refuses: [{ id: "x" }],
  },
  Parameters: {
    declarations: "declare function save(book: { id: number }, hard?: boolean): void;",
    type: "{ it: Parameters<typeof save> }",
    by: "compiler",
    accepts: [{ it: [{ id: 1 }] }, { it: [{ id: 1 }, true] }],
    refuses: [{ it: [] }, { it: [{ id: 1 }, "x"] }],
  },
  "a string intrinsic over literals": {
    type: "{ it: Uppercase<'a' | 'b'> }",
    by: "compiler",
    accepts: [{ it: "A" }],
    refuses: [{ it: "a" }],
  },
  "Uppercase<string>": {
    type: "{ it: Uppercase<string> }",
    by: "compiler",
    accepts: [{ it: "ABC-1" }, { it: "" }],
    refuses: [{ it: "aBC" }, { it: 1 }],
  },
  "Capitalize<string>": {
    type: "{ it: Capitalize<string> }",
    by: "compiler",
    accepts: [{ it: "Abc" }, { it: "" }],
    refuses: [{ it: "abc" }],
  },
  "Lowercase<string>": {
    type: "{ it: Lowercase<string> }",
    by: "compiler",
    accepts: [{ it: "abc-1" }, { it: "" }],
    refuses: [{ it: "Abc" }],
  },
  "Uncapitalize<string>": {
    type: "{ it: Uncapitalize<string> }",
    by: "compiler",
    accepts: [{ it: "aBC" }, { it: "" }],
    refuses: [{ it: "Abc" }],
  },
  "a template literal with a string": {
    type: "{ it: `user-${string}` }",
    by: "compiler",
    accepts: [{ it: "user-1" }, { it: "user-" }],
    refuses: [{ it: "user" }, { it: "x-user-1" }],
  },
  "a template literal with a number": {
    type: "{ it: `${number}px` }",
    by: "compiler",
    accepts: [{ it: "1px" }, { it: "-1.5e3px" }],
    refuses: [{ it: "px" }, { it: "1e999px" }, { it: "a1px" }],
  },
  "a template literal that does not go back": {
    type: "{ it: `${string}-${number}` }",
    by: "compiler",
    accepts: [{ it: "a-1" }],
    refuses: [{ it: "a-b-1" }],
  },
  "a template literal with parts side by side": {
    type: "{ it: `${number}${string}` }",
    by: "compiler",
    accepts: [{ it: "1x" }, { it: "12" }],
    refuses: [{ it: "x1" }, { it: "" }],
  },
  "Temporal.PlainDate": {
    type: "{ it: Temporal.PlainDate }",
    by: "source",
    accepts: [{ it: "2026-01-31" }],
    refuses: [{ it: "2026-02-31" }, { it: 1 }],
  },
  "Temporal.Instant": {
    type: "{ it: Temporal.Instant }",
    by: "source",
    accepts: [{ it: "2026-01-31T00:00:00Z" }],
    refuses: [{ it: "2026-01-31" }, { it: "2026-02-31T00:00:00Z" }],
  },
  "Temporal.ZonedDateTime": {
    type: "{ it: Temporal.ZonedDateTime }",
    by: "source",
    accepts: [{ it: "2026-01-31T00:00:00+01:00[Europe/Berlin]" }],
    refuses: [{ it: "2026-01-31T00:00:00Z" }],
  },
  "Temporal.PlainDateTime": {
    type: "{ it: Temporal.PlainDateTime }",
    by: "source",
    accepts: [{ it: "2026-01-31T12:00" }],
    refuses: [{ it: "2026-02-31T12:00" }],
  },
  "Temporal.PlainTime": {
    type: "{ it: Temporal.PlainTime }",
    by: "source",
    accepts: [{ it: "12:00" }],
    refuses: [{ it: "25:00" }],
  },
  "Temporal.PlainYearMonth": {
    type: "{ it: Temporal.PlainYearMonth }",
    by: "source",
    accepts: [{ it: "2026-01" }],
    refuses: [{ it: "2026-13" }],
  },
  "Temporal.PlainMonthDay": {
    type: "{ it: Temporal.PlainMonthDay }",
    by: "source",
    accepts: [{ it: "01-31" }],
    refuses: [{ it: "02-31" }],
  },
  "Temporal.Duration": {
    type: "{ it: Temporal.Duration }",
    by: "source",
    accepts: [{ it: "PT1H30M" }],
    refuses: [{ it: "1h" }],
  },
  "a declared namespace": {
    declarations: "declare namespace Prisma { interface Where { id?: number; AND?: Where[] } }",
    type: "Prisma.Where",
    by: "compiler",
    accepts: [{}, { AND: [{ id: 1 }] }],
    refuses: [{ AND: [{ id: "x" }] }],
  },
  "a global": {
    declarations: "declare global { interface GlobalThing { id: number } } export {};",
    type: "GlobalThing",
    by: "compiler",
    accepts: [{ id: 1 }],
    refuses: [{}],
  },
  "z.infer": {
    declarations:
      'import { z } from "zod"; const Book = z.object({ id: z.number(), tags: z.array(z.string()).optional() });',
    type: "z.infer<typeof Book>",
    by: "compiler",
    accepts: [{ id: 1 }, { id: 1, tags: ["a"] }],
    refuses: [{ id: "x" }, { id: 1, tags: [1] }],
  },
  "valibot's InferOutput": {
    declarations:
      'import * as v from "valibot"; const Book = v.object({ id: v.number(), tag: v.optional(v.string()) });',
    type: "v.InferOutput<typeof Book>",
    by: "compiler",
    accepts: [{ id: 1 }, { id: 1, tag: "a" }],
    refuses: [{ id: "x" }, { id: 1, tag: 1 }],
  },
  "arktype's infer": {
    declarations: 'import { type } from "arktype"; const Book = type({ id: "number", "tag?": "string" });',
    type: "typeof Book.infer",
    by: "compiler",
    accepts: [{ id: 1 }, { id: 1, tag: "a" }],
    refuses: [{ id: "x" }, { id: 1, tag: 1 }],
  },
  "a type of `@types`": {
    type: "{ it: NodeJS.Platform }",
    by: "compiler",
    accepts: [{ it: "linux" }],
    refuses: [{ it: "beos" }],
  },
  ReturnType: {
    declarations: "declare function load(): { id: number }[];",
    type: "{ it: ReturnType<typeof load>[number] }",
    by: "compiler",
    accepts: [{ it: { id: 1 } }],
    refuses: [{ it: {} }],
  },
  "a mapped type over a tuple": {
    declarations: "type Texts<T> = { [K in keyof T]: string };",
    type: "{ it: Texts<[number, boolean?]> }",
    by: "compiler",
    accepts: [{ it: ["a"] }, { it: ["a", "b"] }],
    refuses: [{ it: [] }, { it: [1] }],
  },
  "Partial of a tuple": {
    type: "{ it: Partial<[string, number]> }",
    by: "compiler",
    accepts: [{ it: [] }, { it: ["a"] }, { it: ["a", 1] }],
    refuses: [{ it: [1] }],
  },
  "an enum": {
    declarations: "declare enum Level { Low = 1, High = 'high' }",
    type: "{ it: Level }",
    by: "compiler",
    accepts: [{ it: 1 }, { it: "high" }],
    refuses: [{ it: 2 }, { it: "Low" }],
  },
  "a constant that TypeScript narrows": {
    declarations: "const sort: 'title' | 'year' = 'title'; type Sort = typeof sort;",
    type: "{ it: Sort }",
    by: "compiler",
    accepts: [{ it: "title" }],
    refuses: [{ it: "year" }],
  },
  "a constant with `satisfies`": {
    declarations: "const sort = { by: 'title' } satisfies { by: 'title' | 'year' };",
    type: "typeof sort",
    by: "compiler",
    accepts: [{ by: "title" }],
    refuses: [{ by: "year" }],
  },
  "the keys of an object with numbers": {
    type: "{ it: keyof { 1: string; a: string } }",
    by: "compiler",
    accepts: [{ it: 1 }, { it: "a" }],
    refuses: [{ it: "1" }],
  },
  "Omit of an object with an index signature": {
    type: "Omit<{ [name: string]: string; id: string; title: string }, 'id'>",
    by: "compiler",
    accepts: [{}, { title: "x" }],
    refuses: [{ title: 1 }],
  },
  "the length of a list is a number": {
    type: "{ it: string[]['length'] }",
    by: "compiler",
    accepts: [{ it: 1 }],
    refuses: [{ it: "a" }],
  },
  "a union of positions of a tuple": {
    type: "{ it: [string, number, boolean][0 | 1] }",
    by: "compiler",
    accepts: [{ it: "a" }, { it: 1 }],
    refuses: [{ it: true }],
  },
  "a tuple with a rest": {
    type: "{ it: [first: string, ...rest: number[]] }",
    by: "source",
    accepts: [{ it: ["a"] }, { it: ["a", 1, 2] }],
    refuses: [{ it: [] }, { it: ["a", "b"] }],
  },
  "a tuple within a tuple": {
    declarations: "type Pair = [string, ...number[]];",
    type: "{ it: [boolean, ...Pair] }",
    by: "source",
    accepts: [{ it: [true, "a"] }, { it: [true, "a", 1] }],
    refuses: [{ it: [true] }, { it: [true, "a", "b"] }],
  },
  "tags on the items of a tuple": {
    type: "{ it: [/** @minimum 1 */ page: number, /** @minLength 2 */ name?: string] }",
    by: "source",
    accepts: [{ it: [1] }, { it: [1, "ab"] }],
    refuses: [{ it: [0] }, { it: [1, "a"] }],
  },
  "tags on the items of a list": {
    type: "{ it: (/** @minLength 2 */ string)[] }",
    by: "source",
    accepts: [{ it: ["ab"] }],
    refuses: [{ it: ["a"] }],
  },
  "tags of both sides of an intersection": {
    type: "{ /** @minimum 5 */ it: number } & { /** @minimum 1 @maximum 9 */ it: number }",
    by: "source",
    accepts: [{ it: 5 }, { it: 9 }],
    refuses: [{ it: 4 }, { it: 10 }],
  },
  "tags of a property that the compiler reads": {
    declarations: `interface Book { /** @minimum 1 */ id: number } ${DEEP}`,
    type: "DeepPartial<Book>",
    by: "compiler",
    accepts: [{}, { id: 1 }],
    refuses: [{ id: 0 }],
  },
};

export const REFUSED: Readonly<Record<string, RefusedConstruct>> = {
  "a Map": {
    type: "{ it: Map<string, number> }",
    error: /:1:\d+: cannot read the type `Map<string, number>`: a request cannot carry a Map/,
  },
  "a function": { type: "{ it: () => void }", error: /a request cannot carry a function/ },
  "a member of Object, by its name": {
    type: "{ it: { [name: string]: unknown; a: Date }['toString'] }",
    error: /a request cannot carry a function/,
  },
  "members of Object, by names that the compiler finds": {
    type: "{ it: { [name: string]: unknown; a: Date }[keyof keyof [string, number?]] }",
    error: /a request cannot carry a function/,
  },
  "a method": { type: "{ run(): void }", error: /a request cannot carry a function/ },
  "a symbol": { type: "{ it: symbol }", error: /it is a symbol/ },
  "a class": {
    declarations: "class Book { private id = 1 }",
    type: "Book",
    error: /it is a class; a request carries plain data/,
  },
  "a promise": { type: "{ it: Promise<string> }", error: /a request cannot carry a Promise/ },
  "a type that does not exist": { type: "{ it: Missing }", error: /cannot read the type `Missing`/ },
  "a module that does not exist": {
    declarations: 'import type { Missing } from "./nowhere.ts";',
    type: "{ it: Missing }",
    error: /cannot find the source of ".\/nowhere.ts"|cannot resolve it/,
  },
  "an unresolved name in a condition": {
    declarations: "type Pick1<T> = T extends Missing ? string : number;",
    type: "{ it: Pick1<1> }",
    error: /TypeScript reports an error that affects the type: .*:1:\d+: Cannot find name 'Missing'/,
  },
  "a condition on the length of a list": {
    type: "{ it: string[] & { length: 2 } }",
    error: /its object part is not a brand/,
  },
  "a tuple with a rest in the middle": {
    type: "{ it: [...string[], number] }",
    error: /nothing may follow the rest of a tuple/,
  },
  "an alias with tags within a type of the compiler": {
    declarations: `/** @pattern ^[a-z]+$ */ type Slug = string; ${DEEP}`,
    type: "DeepPartial<{ it: Slug }>",
    error: /the tag @pattern of the type Slug would be lost here.*Write the tag on the property/,
  },
  "a mapped type over Date": {
    declarations: "type Loose<T> = { [K in keyof T]?: T[K] };",
    type: "{ it: Loose<Date> }",
    error: /of TypeScript's own library/,
  },
  "tags that refine nothing": {
    type: "{ it: string | /** @minimum 1 */ { x: number } }",
    error: /@minimum does not apply to this type/,
  },
  "tags within a condition": {
    type: "{ it: 1 extends number ? /** @minLength 1 */ string : never }",
    error: /the tags of this comment refine nothing here/,
  },
  "two patterns of an intersection": {
    type: "{ /** @pattern ^a */ it: string } & { /** @pattern b$ */ it: string }",
    error: /@pattern contradicts the one that the type already has/,
  },
  "tags on an interface": {
    declarations: "/** @minimum 1 */ interface Book { id: number }",
    type: "Book",
    error: /@minimum does not apply/,
  },
  "a misspelt tag": {
    type: "{ /** @minLenght 1 */ it: string }",
    error: /:1:\d+: @minLenght is unknown. Did you mean @minLength\?/,
  },
  "a keyword of JSON Schema": {
    type: "{ /** @minProperties 1 */ it: object }",
    error: /@minProperties is a keyword of JSON Schema that Waymark does not check/,
  },
  "a pattern with flags": { type: "{ /** @pattern /a/i */ it: string }", error: /@pattern has the flag "i"/ },
};
