import type { LiteralNode, Refinements, ScalarNode, TypeNode } from "../model.ts";
import {
  type CompileContext,
  type Converter,
  INVALID,
  type Note,
  RANK,
  reject,
  scalarConverter,
} from "./converter.ts";
import { JsonNumbers } from "./json-numbers.ts";
import { arrayConverter, tupleConverter } from "./lists.ts";
import { objectConverter } from "./objects.ts";
import { Outcomes } from "./outcomes.ts";
import { type Check, dayCheck, numberCheck, stringCheck } from "./refinements.ts";
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
import { unionConverter } from "./unions.ts";
import { blobConverter, bytesConverter, fileConverter } from "./uploads.ts";

/** A compiler for the types of one signature. */
export const typeCompiler = (
  definitions: CompileContext["definitions"],
  unknownKeywords: CompileContext["unknownKeywords"],
): CompileContext => {
  const compiled = new Map<string, Converter>();
  const context: CompileContext = {
    definitions,
    unknownKeywords,
    outcomes: new Outcomes(),
    numbers: new JsonNumbers(),
    compile: (type) => compileType(type, context, compiled),
  };
  return context;
};

const compileType = (
  type: TypeNode,
  context: CompileContext,
  compiled: Map<string, Converter>,
): Converter => {
  switch (type.kind) {
    case "literal":
      return literalConverter(type);
    case "union":
      return unionConverter(type, context);
    case "array":
      return arrayConverter(type, context);
    case "tuple":
      return tupleConverter(type, context);
    case "object":
      return objectConverter(type, context);
    case "reference":
      return referenceConverter(type.name, context, compiled);
    case "unreadable":
    case "stream":
    case "response":
      return RAW;
    default:
      return compileScalar(type, context);
  }
};

const compileScalar = (type: ScalarNode, { numbers }: CompileContext): Converter => {
  const plain = type.kind === "number" ? numberConverter(numbers) : SCALARS[type.kind];
  if (!type.refinements) return plain;
  const check = scalarCheck(type.kind, type.refinements);
  return check ? checked(plain, check) : plain;
};

const scalarCheck = (kind: ScalarNode["kind"], refinements: Refinements): Check | undefined => {
  if (kind === "string") return stringCheck(refinements);
  if (kind === "number" || kind === "bigint") return numberCheck(refinements);
  return kind === "date" && refinements.format === "date" ? dayCheck : undefined;
};

const checked = (plain: Converter, check: Check): Converter => {
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
};

const stringOr =
  (fromText: (text: string) => unknown): ((value: unknown) => unknown) =>
  (value) =>
    typeof value === "string" ? fromText(value) : INVALID;

const STRING = scalarConverter({
  expected: "text",
  expectedInJson: "a string",
  rank: RANK.string,
  text: (text) => text,
  json: (value) => (typeof value === "string" ? value : INVALID),
  fitting: "string",
});

/** Lets anything through as it came: text, lists of it, files, JSON values. */
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

const numberConverter = (numbers: JsonNumbers): Converter =>
  scalarConverter({
    expected: "a number",
    problem: numberProblem,
    rank: RANK.number,
    text: numberFromText,
    json: (value) => numberFromJson(value, numbers),
    fitting: "number",
  });

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
  untyped: { ...STRING, rank: RANK.unknown, fromJson: (value) => value },
  file: fileConverter,
  blob: blobConverter,
  bytes: bytesConverter,
};

const literalConverter = ({ value }: LiteralNode): Converter => {
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
};

const copies = (notes: readonly Note[]): Note[] => notes.map((note) => ({ ...note }));

/** How far a value may go into a type that contains itself; more would exhaust the stack. */
const MAXIMUM_DEPTH = 200;

/** A type within itself: its converter does not exist yet when the parts of the type are compiled. */
const referenceConverter = (
  name: string,
  context: CompileContext,
  compiled: Map<string, Converter>,
): Converter => {
  const known = compiled.get(name);
  if (known) return known;
  let target: Converter | undefined;
  let depth = 0;
  const { outcomes } = context;
  const convert = (value: unknown, notes: Note[]): unknown => {
    if (depth === MAXIMUM_DEPTH) return reject(notes, `is nested more than ${MAXIMUM_DEPTH} deep`, true);
    depth++;
    const result = target!.fromJson(value, notes);
    depth--;
    return result;
  };
  const reference: Converter = {
    expected: `a ${name}`,
    rank: RANK.object,
    // whether it would is not known when the type that contains itself asks
    keepsJson: false,
    fromText: (text, notes) => target!.fromText(text, notes),
    fromFile: (file, notes) => target!.fromFile(file, notes),
    fromItem: (value, notes) => target!.fromItem(value, notes),
    fromList: (values, notes) => target!.fromList(values, notes),
    fromJson: (value, notes) => {
      if (!outcomes.isKeeping || typeof value !== "object" || value === null) return convert(value, notes);
      const known = outcomes.find(name, value);
      if (known) {
        // what contains the value puts its own way before these
        notes.push(...copies(known.notes));
        return known.result;
      }
      const start = notes.length;
      const result = convert(value, notes);
      outcomes.keep(name, value, { result, notes: copies(notes.slice(start)) });
      return result;
    },
  };
  compiled.set(name, reference);
  const type = context.definitions[name];
  if (!type) throw new TypeError(`the signature defines no type named ${name}`);
  target = context.compile(type);
  return reference;
};
