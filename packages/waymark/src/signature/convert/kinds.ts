import type {
  ArrayNode,
  LiteralNode,
  ObjectNode,
  ReferenceNode,
  ScalarNode,
  TemporalNode,
  TupleNode,
  TypeNode,
  UnionNode,
} from "../model/signature.ts";
import { bigintConverter } from "./bigints.ts";
import { booleanConverter } from "./booleans.ts";
import type { CompileContext } from "./compile-context.ts";
import { absentConverter, nullConverter } from "./constants.ts";
import type { Converter } from "./converter.ts";
import { dateConverter, formattedDateConverter } from "./dates.ts";
import { arrayConverter, tupleConverter } from "./lists.ts";
import { literalConverter } from "./literals.ts";
import { numberConverter } from "./numbers.ts";
import { objectConverter } from "./objects.ts";
import { NON_NULL, RAW } from "./raw.ts";
import { referenceConverter } from "./references.ts";
import { sharedUnion } from "./shared-union.ts";
import { temporalConverter } from "./temporal.ts";
import { stringConverter, untypedConverter } from "./texts.ts";
import { blobConverter, bytesConverter, fileConverter } from "./uploads.ts";
import { urlConverter } from "./urls.ts";

/** Converters that several parts of a signature share. */
export interface SharedConverters {
  readonly references: Map<string, Converter>;
  readonly unions: Map<string, Converter>;
}

/** Creates the converter of a type of one kind. */
export type MakeConverter<Type> = (
  type: Type,
  context: CompileContext,
  shared: SharedConverters,
) => Converter;

export const arrayKind: MakeConverter<ArrayNode> = arrayConverter;
export const bigintKind: MakeConverter<ScalarNode> = bigintConverter;
export const blobKind: MakeConverter<ScalarNode> = () => blobConverter;
export const booleanKind: MakeConverter<ScalarNode> = booleanConverter;
export const bytesKind: MakeConverter<ScalarNode> = () => bytesConverter;
export const dateKind: MakeConverter<ScalarNode> = ({ refinements }) =>
  refinements?.format ? formattedDateConverter(refinements.format) : dateConverter();
export const fileKind: MakeConverter<ScalarNode> = () => fileConverter;
export const literalKind: MakeConverter<LiteralNode> = literalConverter;
export const neverKind: MakeConverter<ScalarNode> = absentConverter;
export const nonNullKind: MakeConverter<ScalarNode> = () => NON_NULL;
export const nullKind: MakeConverter<ScalarNode> = nullConverter;
export const numberKind: MakeConverter<ScalarNode> = (_, { numbers }) => numberConverter(numbers);
export const objectKind: MakeConverter<ObjectNode> = objectConverter;
export const problemKind: MakeConverter<TypeNode> = () => RAW;
export const referenceKind: MakeConverter<ReferenceNode> = ({ name }, context, { references }) =>
  referenceConverter(name, context, references);
export const responseKind: MakeConverter<TypeNode> = () => RAW;
export const streamKind: MakeConverter<TypeNode> = () => RAW;
export const stringKind: MakeConverter<ScalarNode> = stringConverter;
export const temporalKind: MakeConverter<TemporalNode> = ({ type }) => temporalConverter(type);
export const tupleKind: MakeConverter<TupleNode> = tupleConverter;
export const undefinedKind: MakeConverter<ScalarNode> = absentConverter;
export const unionKind: MakeConverter<UnionNode> = (type, context, { unions }) =>
  sharedUnion(type, context, unions);
export const unknownKind: MakeConverter<ScalarNode> = () => RAW;
export const unreadableKind: MakeConverter<TypeNode> = () => RAW;
export const untypedKind: MakeConverter<ScalarNode> = untypedConverter;
export const urlKind: MakeConverter<ScalarNode> = urlConverter;

/** The function that makes the converter of each kind. A bundle has only the kinds of its signatures: see `usedKinds`. */
export const KINDS: Readonly<Record<TypeNode["kind"], MakeConverter<never>>> = {
  array: arrayKind,
  bigint: bigintKind,
  blob: blobKind,
  boolean: booleanKind,
  bytes: bytesKind,
  date: dateKind,
  file: fileKind,
  literal: literalKind,
  never: neverKind,
  nonNull: nonNullKind,
  null: nullKind,
  number: numberKind,
  object: objectKind,
  problem: problemKind,
  reference: referenceKind,
  response: responseKind,
  stream: streamKind,
  string: stringKind,
  temporal: temporalKind,
  tuple: tupleKind,
  undefined: undefinedKind,
  union: unionKind,
  unknown: unknownKind,
  unreadable: unreadableKind,
  untyped: untypedKind,
  url: urlKind,
};
