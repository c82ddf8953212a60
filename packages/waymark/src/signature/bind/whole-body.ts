import { type CountMembers, compileCount } from "../convert/count-members.ts";
import type { MethodSignature, ObjectNode } from "../model/signature.ts";
import { MAXIMUM_NAMES } from "./fields.ts";
import type { SchemaTable } from "./standard-schema.ts";

interface Options {
  readonly schemas?: SchemaTable | undefined;
  readonly unknownKeywords?: "reject" | "ignore";
}

/**
 * Checks and counts the members of a JSON body that becomes the keyword object unchanged. Undefined if some bodies must be
 * converted, or if a body without members leaves the object to its default. `shapes` are the forms of the object.
 */
export function compileWholeBody(
  { parameters }: MethodSignature,
  shapes: readonly ObjectNode[],
  { schemas, unknownKeywords }: Options,
): CountMembers | undefined {
  const keywords = parameters.find(({ role }) => role === "keywords");
  const [shape] = shapes;
  if (keywords === undefined || keywords.optional || shape === undefined || shapes.length > 1)
    return undefined;
  if (unknownKeywords === "ignore" || schemas !== undefined) return undefined;
  return shape.properties.length > MAXIMUM_NAMES ? undefined : compileCount(shape);
}
