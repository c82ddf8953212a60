import type { TypeNode } from "../model/signature.ts";
import { checkedConverter } from "./checked.ts";
import type { CompileContext } from "./compile-context.ts";
import type { Converter } from "./converter.ts";
import { JsonNumbers } from "./json-numbers.ts";
import { KINDS, type MakeConverter, type SharedConverters } from "./kinds.ts";
import { Outcomes } from "./outcomes.ts";

/** Creates a compiler for the types of one signature. */
export function typeCompiler(
  definitions: CompileContext["definitions"],
  unknownKeywords: CompileContext["unknownKeywords"],
): CompileContext {
  const shared: SharedConverters = { references: new Map(), unions: new Map() };
  const context: CompileContext = {
    definitions,
    unknownKeywords,
    outcomes: new Outcomes(),
    numbers: new JsonNumbers(),
    compile: (type) => compileType(type, context, shared),
  };
  return context;
}

function compileType(type: TypeNode, context: CompileContext, shared: SharedConverters): Converter {
  const make = KINDS[type.kind] as MakeConverter<TypeNode>;
  const plain = make(type, context, shared);
  return "refinements" in type && type.refinements
    ? checkedConverter(plain, type.kind, type.refinements)
    : plain;
}
