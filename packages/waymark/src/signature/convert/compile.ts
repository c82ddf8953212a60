import type { ScalarNode, TypeNode } from "../model/signature.ts";
import { bigintConverter } from "./bigints.ts";
import { booleanConverter } from "./booleans.ts";
import { checkedConverter } from "./checked.ts";
import type { CompileContext } from "./compile-context.ts";
import { absentConverter, nullConverter } from "./constants.ts";
import type { Converter } from "./converter.ts";
import { dateConverter, formattedDateConverter } from "./dates.ts";
import { JsonNumbers } from "./json-numbers.ts";
import { arrayConverter, tupleConverter } from "./lists.ts";
import { literalConverter } from "./literals.ts";
import { numberConverter } from "./numbers.ts";
import { objectConverter } from "./objects.ts";
import { Outcomes } from "./outcomes.ts";
import { NON_NULL, RAW } from "./raw.ts";
import { referenceConverter } from "./references.ts";
import { sharedUnion } from "./shared-union.ts";
import { temporalConverter } from "./temporal.ts";
import { stringConverter, untypedConverter } from "./texts.ts";
import { blobConverter, bytesConverter, fileConverter } from "./uploads.ts";
import { urlConverter } from "./urls.ts";

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

function compileScalar(type: ScalarNode, { numbers }: CompileContext): Converter {
  const { kind, refinements } = type;
  if (kind === "date" && refinements?.format) return formattedDateConverter(refinements.format);
  const plain = plainScalar(kind, numbers);
  return refinements ? checkedConverter(plain, kind, refinements) : plain;
}

function plainScalar(kind: ScalarNode["kind"], numbers: JsonNumbers): Converter {
  switch (kind) {
    case "string":
      return stringConverter();
    case "number":
      return numberConverter(numbers);
    case "bigint":
      return bigintConverter();
    case "boolean":
      return booleanConverter();
    case "date":
      return dateConverter();
    case "url":
      return urlConverter();
    case "null":
      return nullConverter();
    case "undefined":
    case "never":
      return absentConverter();
    case "unknown":
      return RAW;
    case "nonNull":
      return NON_NULL;
    case "untyped":
      return untypedConverter();
    case "file":
      return fileConverter;
    case "blob":
      return blobConverter;
    case "bytes":
      return bytesConverter;
  }
}
