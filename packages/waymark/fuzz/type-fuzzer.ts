import { writeFileSync } from "node:fs";
import fc from "fast-check";
import { BindFaults } from "../src/signature/bind/bind-faults.ts";
import { compileBinder } from "../src/signature/bind/binder.ts";
import { CompiledFiles } from "../src/signature/compiled.fixture.ts";
import { sameType } from "../src/signature/compiler/same-type.ts";
import type { MethodSignature } from "../src/signature/model/signature.ts";
import { SignatureError } from "../src/signature/model/signature-error.ts";
import { DECLARATIONS, typeText } from "./random-types.ts";
import { anyText, anyValue, type Random, seeded, valueFor } from "./random-values.ts";
import { expressionOf } from "./value-expressions.ts";

export interface FuzzReport {
  /** Pairs of a type and a value. */
  readonly pairs: number;
  readonly types: number;
  readonly readBySource: number;
  readonly accepted: number;
  /** Each line is a fault. */
  readonly faults: readonly string[];
}

interface Pair {
  readonly type: string;
  readonly body: unknown;
  /** The value that the method would receive, as an expression of TypeScript. */
  readonly expression: string;
}

/**
 * A required property that admits undefined may be absent, because JSON has no undefined. A value that TypeScript
 * refuses for `T` alone must fit this type.
 */
const LENIENT = `
type Lenient<T> = unknown extends T ? T : [Json] extends [T] ? T
  : T extends string | number | bigint | boolean | null | undefined | Date | URL | Temporal.PlainDate ? T
  : T extends readonly unknown[] ? { [K in keyof T]: Lenient<T[K]> }
  : { [K in keyof T as undefined extends T[K] ? never : K]: Lenient<T[K]> }
    & { [K in keyof T as undefined extends T[K] ? K : never]?: Lenient<T[K]> };
`;

/** The exact type of a value. TypeScript gives a list no tuple's type where `any` is a part of the expected type. */
const SAME = `
type Exact<T> = T extends Date | URL | Temporal.PlainDate ? T
  : T extends object ? { -readonly [K in keyof T]: Exact<T[K]> } : T;
const same = <const T>(value: T): Exact<T> => value as Exact<T>;
`;

const TYPES_PER_ROUND = 100;

/**
 * Makes random types and random values. TypeScript must be able to assign each value that Waymark accepts to the type,
 * and the reader of the source must agree with the compiler.
 */
export function fuzzTypes(seed: number, pairs: number): FuzzReport {
  const random = seeded(seed);
  const total = { pairs: 0, types: 0, readBySource: 0, accepted: 0, faults: [] as string[] };
  while (total.pairs < pairs) {
    const round = fuzzRound(random, Math.min(TYPES_PER_ROUND * 20, pairs - total.pairs));
    total.pairs += round.pairs;
    total.types += round.types;
    total.readBySource += round.readBySource;
    total.accepted += round.accepted;
    total.faults.push(...round.faults);
  }
  return total;
}

function fuzzRound(random: Random, pairs: number): FuzzReport {
  const texts = fc.sample(typeText, { seed: Math.floor(random() * 0x7fffffff), numRuns: TYPES_PER_ROUND });
  const head = DECLARATIONS.replaceAll("\n", " ");
  const methods = Object.fromEntries(
    texts.map((text, index) => [
      `type-${index}.ts`,
      `${head} export class Example { POST(it: ${text}, after?: string) {} }`,
    ]),
  );
  const files = new CompiledFiles(methods);
  const faults: string[] = [];
  const accepted: Pair[] = [];
  let count = 0;
  let types = 0;
  let readBySource = 0;
  try {
    for (const [index, text] of texts.entries()) {
      const name = `type-${index}.ts`;
      if (files.program.linesWithErrors(files.path(name)).length > 0) continue;
      const signature = attempt(() => files.signature(name, "with"));
      const source = attempt(() => files.signature(name, "without"));
      if (source) {
        readBySource++;
        const fault = disagreement(files, name, source);
        if (fault) faults.push(`${text}: ${fault}`);
      }
      if (!signature) continue;
      types++;
      const { type } = signature.parameters[0]!;
      const binder = compileBinder(signature);
      const each = Math.ceil((pairs - count) / (texts.length - index));
      for (let at = 0; at < Math.min(each, 40) && count < pairs; at++) {
        count++;
        const isText = at % 5 === 4;
        const body = isText
          ? anyText(random)
          : at % 5 === 0
            ? anyValue(random)
            : valueFor(type, signature.definitions, random, 0.08);
        const result = binder.bind({
          segments: [],
          query: isText ? `it=${encodeURIComponent(String(body))}` : "",
          ...(!isText && { body: { kind: "json", value: { it: body } } }),
        });
        if (result instanceof BindFaults || result instanceof Promise) continue;
        accepted.push({ type: text, body, expression: expressionOf(result[0]) });
      }
    }
    const refused = refusedPairs(files, head, accepted, "strict.ts", (type) => type);
    const always = refusedPairs(
      files,
      head + LENIENT.replaceAll("\n", " "),
      refused,
      "lenient.ts",
      (type) => `Lenient<${type}>`,
    );
    // The parts of an intersection refuse each other's names in nested literals, but not in other values.
    const plain = refusedPairs(
      files,
      head + SAME.replaceAll("\n", " "),
      always,
      "plain.ts",
      (type) => type,
      (expression) => `same(${expression})`,
    );
    const isFault = (pair: Pair) => plain.includes(pair) || !/&|Both/.test(pair.type);
    for (const { type, body } of always.filter(isFault))
      faults.push(`${type} accepts ${JSON.stringify(body)}`);
  } finally {
    files.close();
  }
  return { pairs: count, types, readBySource, accepted: accepted.length, faults };
}

function attempt(read: () => MethodSignature): MethodSignature | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof SignatureError) return undefined;
    throw error;
  }
}

function disagreement(files: CompiledFiles, name: string, source: MethodSignature): string | undefined {
  const read = { type: source.parameters[0]!.type, definitions: source.definitions };
  try {
    const checked = files.checkedType(name);
    if (sameType(read, checked)) return undefined;
    return `the source says ${JSON.stringify(read)}, the compiler ${JSON.stringify(checked)}`;
  } catch (error) {
    // The compiler's form of the type may have a part that no request carries and that no value needs.
    if (error instanceof SignatureError) return undefined;
    throw error;
  }
}

/** The pairs whose value TypeScript does not assign to the type. */
function refusedPairs(
  files: CompiledFiles,
  head: string,
  pairs: readonly Pair[],
  name: string,
  typeOf: (text: string) => string,
  written: (expression: string) => string = (expression) => expression,
): Pair[] {
  if (pairs.length === 0) return [];
  const lines = pairs.map(
    ({ type, expression }, index) => `export const v${index}: ${typeOf(type)} = ${written(expression)};`,
  );
  const path = files.path(name);
  writeFileSync(path, [head, ...lines].join("\n"));
  return files.program.linesWithErrors(path).map((line) => {
    const pair = pairs[line - 2];
    if (!pair) throw new Error(`${name}:${line}: the declarations have an error`);
    return pair;
  });
}
