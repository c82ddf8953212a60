import type { TSType } from "oxc-parser";
import type { TypeNode } from "../model/signature.ts";
import { readDocComment } from "./jsdoc.ts";
import type { Scope } from "./scope.ts";
import type { TypeReader } from "./type-reader.ts";

/** The type of an item or a member with a comment of its own: `(@minLength 1 string)[]`. */
export function documentedType(reader: TypeReader, node: TSType, scope: Scope): TypeNode {
  const { refinements } = readDocComment(scope.module, node.start);
  return reader.refine(reader.read(node, scope), refinements, scope.module);
}
