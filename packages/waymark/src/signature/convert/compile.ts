import type { LiteralNode, Refinements, ScalarNode, TypeNode, UnionNode } from "../model/signature.ts";
import type { CompileContext } from "./compile-context.ts";
import { type Converter, INVALID, RANK, reject, scalarConverter } from "./converter.ts";
import { FORMATS } from "./formats.ts";
import { JsonNumbers } from "./json-numbers.ts";
import { arrayConverter, tupleConverter } from "./lists.ts";
import { objectConverter } from "./objects.ts";
import { Outcomes } from "./outcomes.ts";
import { referenceConverter } from "./references.ts";
import { type Check, numberCheck, stringCheck } from "./refinements.ts";
import {
  bigintFromText,
  bigintProblem,
  booleanFromText,
  dateFromText,
  numberFromJson,
  numberFromText,
  numberProblem,
  urlFromText,
} from "./scalars.ts";
import { temporalConverter } from "./temporal.ts";
import { unionConverter } from "./unions.ts";
import { blobConverter, bytesConverter, fileConverter } from "./uploads.ts";

/** Converters that several parts of a signature share. */
interface CompiledTypes {
  readonly references: Map<string, Converter>;
  readonly unions: Map<string, Converter>;
}

/** Creates a compiler for the types of one signature. */
export function typeCompiler(
  definitions: CompileContext["definitions"],
  unknownKeywords: CompileContext["unknownKeywords"],
): CompileContext {
  const compiled: CompiledTypes = { references: new Map(), unions: new Map() };
  const context: CompileContext = {
    definitions,
    unknownKeywords,
    outcomes: new Outcomes(),
    numbers: new JsonNumbers(),
    compile: (type) => compileType(type, context, compiled),
  };
  return context;
}

function compileType(type: TypeNode, context: CompileContext, compiled: CompiledTypes): Converter {
  switch (type.kind) {
    case "literal":
      return literalConverter(type);
    case "temporal":
      return temporalConverter(type.type);
    case "union":
      return sharedUnion(type, context, compiled.unions);
    case "array":
      return arrayConverter(type, context);
    case "tuple":
      return tupleConverter(type, context);
    case "object":
      return objectConverter(type, context);
    case "reference":
      return referenceConverter(type.name, context, compiled.references);
    case "unreadable":
    case "stream":
    case "response":
    case "problem":
      return RAW;
    default:
      return compileScalar(type, context);
  }
}

/** Equal unions share one converter, so that each value is converted once even if many members contain the union. */
function sharedUnion(type: UnionNode, context: CompileContext, unions: CompiledTypes["unions"]): Converter {
  if (!type.members.some((member) => PARTS.has(member.kind))) return unionConverter(type, context);
  const key = JSON.stringify(type);
  const known = unions.get(key);
  if (known) return known;
  const union = unionConverter(type, context);
  const shared = { ...union, fromJson: context.outcomes.remembering(union.fromJson) };
  unions.set(key, shared);
  return shared;
}

/** Kinds whose values contain other values. */
const PARTS: ReadonlySet<TypeNode["kind"]> = new Set(["object", "array", "tuple", "reference"]);

function compileScalar(type: ScalarNode, { numbers }: CompileContext): Converter {
  if (type.kind === "date" && type.refinements?.format) return dateConverter(type.refinements.format);
  const plain = type.kind === "number" ? numberConverter(numbers) : SCALARS[type.kind];
  if (!type.refinements) return plain;
  const check = scalarCheck(type.kind, type.refinements);
  return check ? checked(plain, check) : plain;
}

function scalarCheck(kind: ScalarNode["kind"], refinements: Refinements): Check | undefined {
  if (kind === "string") return stringCheck(refinements);
  return kind === "number" || kind === "bigint" ? numberCheck(refinements) : undefined;
}

function checked(plain: Converter, check: Check): Converter {
  const refine = (value: unknown, notes: Parameters<Converter["fromText"]>[1]): unknown => {
    if (value === INVALID) return INVALID;
    const message = check(value as never);
    return message === undefined ? value : reject(notes, message, true);
  };
  const { fitting: _, ...unchecked } = plain;
  return {
    ...unchecked,
    fromText: (text, notes) => refine(plain.fromText(text, notes), notes),
    fromItem: (value, notes) => refine(plain.fromItem(value, notes), notes),
    fromJson: (value, notes) => refine(plain.fromJson(value, notes), notes),
  };
}

function stringOr(fromText: (text: string) => unknown): (value: unknown) => unknown {
  return (value) => (typeof value === "string" ? fromText(value) : INVALID);
}

const STRING = scalarConverter({
  expected: "text",
  expectedInJson: "a string",
  rank: RANK.string,
  text: (text) => text,
  json: (value) => (typeof value === "string" ? value : INVALID),
  fitting: "string",
});

/** Accepts any value unchanged: text, lists of text, files, JSON values. */
export const RAW: Converter = {
  expected: "anything",
  rank: RANK.unknown,
  keepsJson: true,
  fromText: (text) => text,
  fromFile: (file) => fileConverter.fromFile(file, []),
  fromItem: (value) => (typeof value === "string" ? value : fileConverter.fromFile(value, [])),
  fromList: (values) => values.map((value) => RAW.fromItem(value, [])),
  fromJson: (value) => value,
};

/** `{}` */
const NON_NULL: Converter = {
  ...RAW,
  fromJson: (value, notes) => (value === null ? reject(notes, "must not be null") : value),
};

/** A date in one notation: `@format date` or `@format date-time`. */
function dateConverter(format: string): Converter {
  const { expected, fits } = FORMATS.get(format)!;
  const text = (value: string) => (fits(value) ? dateFromText(value) : INVALID);
  return scalarConverter({ expected, rank: RANK.date, text, json: stringOr(text), keepsJson: false });
}

function numberConverter(numbers: JsonNumbers): Converter {
  return scalarConverter({
    expected: "a number",
    problem: numberProblem,
    rank: RANK.number,
    text: numberFromText,
    json: (value) => numberFromJson(value, numbers),
    fitting: "number",
  });
}

const SCALARS: { readonly [kind in Exclude<ScalarNode["kind"], "number">]: Converter } = {
  string: STRING,
  bigint: scalarConverter({
    expected: "an integer",
    expectedInJson: "an integer, written as a string",
    problem: bigintProblem,
    rank: RANK.bigint,
    text: bigintFromText,
    json: stringOr(bigintFromText),
    keepsJson: false,
  }),
  boolean: scalarConverter({
    expected: "true or false",
    rank: RANK.boolean,
    text: booleanFromText,
    json: (value) => (typeof value === "boolean" ? value : INVALID),
    fitting: "boolean",
  }),
  date: scalarConverter({
    expected: "a date or time (ISO 8601)",
    rank: RANK.date,
    text: dateFromText,
    json: stringOr(dateFromText),
    keepsJson: false,
  }),
  url: scalarConverter({
    expected: "an absolute URL",
    rank: RANK.url,
    text: urlFromText,
    json: stringOr(urlFromText),
    keepsJson: false,
  }),
  null: scalarConverter({
    expected: "null",
    rank: RANK.null,
    text: (text) => (text === "" ? null : INVALID),
    json: (value) => (value === null ? null : INVALID),
  }),
  undefined: scalarConverter({
    expected: "absent",
    rank: RANK.null,
    text: () => INVALID,
    json: () => INVALID,
  }),
  never: scalarConverter({ expected: "absent", rank: RANK.null, text: () => INVALID, json: () => INVALID }),
  unknown: RAW,
  nonNull: NON_NULL,
  untyped: { ...STRING, rank: RANK.unknown, fromJson: (value) => value },
  file: fileConverter,
  blob: blobConverter,
  bytes: bytesConverter,
};

function literalConverter({ value }: LiteralNode): Converter {
  const actual = typeof value === "object" ? BigInt(value.bigint) : value;
  const expected = typeof actual === "string" ? JSON.stringify(actual) : String(actual);
  const parts = { expected, rank: RANK.literal };
  if (typeof actual === "string") {
    const same = (given: unknown) => (given === actual ? actual : INVALID);
    return scalarConverter({ ...parts, text: same, json: same });
  }
  if (typeof actual === "bigint") {
    const same = (text: string) => (bigintFromText(text) === actual ? actual : INVALID);
    return scalarConverter({ ...parts, text: same, json: stringOr(same), keepsJson: false });
  }
  const parse: (text: string) => unknown = typeof actual === "number" ? numberFromText : booleanFromText;
  return scalarConverter({
    ...parts,
    text: (text) => (parse(text) === actual ? actual : INVALID),
    json: (given) => (given === actual ? actual : INVALID),
  });
}
