import type { PropertyNode } from "../model/signature.ts";
import type { DocComment } from "./jsdoc.ts";

/** The documentation in the JSDoc of a property or parameter, without its refinements. */
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
