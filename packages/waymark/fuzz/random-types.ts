import fc from "fast-check";

/** The declarations that random types use. */
export const DECLARATIONS = `
interface Book { id: number; title: string; tags?: string[]; at?: Date | null }
interface Tree { name: string; children?: Tree[]; parent?: Tree | null }
interface Novel extends Book { genre: "crime" | "romance"; title: "x" | "y" }
type Pair<A, B = A> = { first: A; second?: B };
type Shape = { kind: "circle"; r: number } | { kind: "box"; w: number; h?: number };
type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
type Deep<T> = T extends Date | URL ? T : T extends object ? { [K in keyof T]?: Deep<T[K]> } : T;
type Item<T> = T extends readonly (infer U)[] ? U : never;
type Boxed<T> = T extends unknown ? { value: T } : never;
type Suffixed<T> = { [K in keyof T as K extends string ? \`\${K}_\` : never]: T[K] };
type Mapped<T> = { [K in keyof T]: T[K] | null };
type Both<T, U> = T & { extra: U };
const COLORS = ["red", "green"] as const;
const LIMITS = { small: 1, large: 2 } as const;
const SETTINGS = { page: 1, sort: "title", deep: { on: true } };
declare const LISTED: readonly ("p" | "q")[];
`;

const LEAVES = [
  ..."string number bigint boolean null unknown any never object {} undefined".split(" "),
  ..."Date URL 'a' 'b' 1 2 -1n true false Book Tree Novel Shape Json Temporal.PlainDate".split(" "),
  "keyof Book",
  "Book['tags']",
  "Shape['kind']",
  "Pair<string>",
  "(typeof COLORS)[number]",
  "(typeof LISTED)[number]",
  "keyof typeof LIMITS",
  "typeof SETTINGS",
  "typeof LIMITS",
  "`x-${number}`",
  "`${string}-${number}`",
  "`${'a' | 'b'}-${1 | 2}`",
  "`${number}${string}`",
  "`${string}${string}.`",
  "Uppercase<string>",
  "Capitalize<string>",
  "Uppercase<'a' | 'b'>",
  "[string, number?]",
  "[string, ...number[]]",
  "{ a: string; b?: number }",
  "{ a: 'x'; c: boolean } | { a: 'y'; b?: string }",
  "{ [name: string]: string | number }",
  "Record<number, string>",
  "{ [name: `a${string}`]: number }",
];

/** The texts of types of any depth. Some are errors for TypeScript. */
export const typeText: fc.Arbitrary<string> = fc.letrec<{ it: string }>((tie) => {
  const it = tie("it");
  const wrap = (...parts: readonly string[]) =>
    fc
      .tuple(...parts.slice(1).map(() => it))
      .map((types) => parts[0] + types.map((own, index) => own + parts[index + 1]).join(""));
  return {
    it: fc.oneof(
      { maxDepth: 4, depthIdentifier: "type" },
      { weight: 10, arbitrary: fc.constantFrom(...LEAVES) },
      wrap("(", ")[]"),
      wrap("readonly (", ")[]"),
      wrap("[", ", ", "?]"),
      wrap("[", ", ...(", ")[]]"),
      { weight: 3, arbitrary: wrap("(", ") | (", ")") },
      { weight: 3, arbitrary: wrap("(", ") & (", ")") },
      { weight: 3, arbitrary: wrap("{ a: ", "; b?: ", " }") },
      wrap("{ a?: ", "; c: ", " }"),
      wrap("{ k: 'a'; b: ", " } | { k: 'b'; a?: ", " }"),
      wrap("{ [name: string]: ", " }"),
      wrap("{ [name: string]: unknown; a: ", " }"),
      wrap("Record<string, ", ">"),
      wrap("Record<'a' | 'b', ", ">"),
      wrap("Record<", ", ", ">"),
      wrap("Partial<", ">"),
      wrap("Required<", ">"),
      wrap("Readonly<", ">"),
      wrap("Pick<", ", 'a'>"),
      wrap("Omit<", ", 'a'>"),
      wrap("Exclude<", ", ", ">"),
      wrap("Extract<", ", ", ">"),
      wrap("NonNullable<", ">"),
      wrap("keyof (", ")"),
      wrap("(", ")['a']"),
      wrap("(", ")[number]"),
      wrap("(", ")[keyof (", ")]"),
      wrap("Pair<", ">"),
      wrap("Pair<", ", ", ">"),
      wrap("Both<", ", ", ">"),
      wrap("Mapped<", ">"),
      wrap("Deep<", ">"),
      wrap("Item<", ">"),
      wrap("Boxed<", ">"),
      wrap("Suffixed<", ">"),
      wrap("(", " extends ", " ? 'a' : 'b')"),
      wrap("{ [K in keyof (", ")]?: (", ")[K & keyof (", ")] }"),
      wrap("{ [K in 'a' | 'b']: ", " }"),
      wrap("Awaited<Promise<", ">>"),
      wrap("{ a: ", " }['a']"),
    ),
  };
}).it;
