import type { TSType } from "oxc-parser";
import type { PropertyNode, TypeNode } from "../model/signature.ts";
import { type DocComment, readDocComment } from "./jsdoc.ts";
import type { Scope } from "./scope.ts";
import type { TypeReader } from "./type-reader.ts";

/** What the JSDoc of a property or parameter documents, without its refinements. */
export type Documentation = Pick<PropertyNode, "description" | "default" | "examples" | "deprecated">;

/** The documentation of a property from its comments. The first comment that says something counts. */
export function documentationOf(docs: readonly DocComment[]): Documentation {
  const description = docs.find((doc) => doc.description)?.description;
  const fallback = docs.find((doc) => doc.default !== undefined)?.default;
  const examples = docs.flatMap((doc) => doc.examples);
  return {
    ...(description && { description }),
    ...(fallback !== undefined && { default: fallback }),
    ...(examples.length > 0 && { examples }),
    ...(docs.some((doc) => doc.deprecated) && { deprecated: true }),
  };
}

/** The type of an item or a member with a comment of its own: `(@minLength 1 string)[]`. */
export function documentedType(reader: TypeReader, node: TSType, scope: Scope): TypeNode {
  const { refinements } = readDocComment(scope.module, node.start);
  return reader.refine(reader.read(node, scope), refinements, scope.module);
}
