import type { TypeNode, UnionNode } from "../model/signature.ts";
import type { CompileContext } from "./compile-context.ts";
import type { Converter } from "./converter.ts";
import { unionConverter } from "./unions.ts";

/** Equal unions share one converter, so that each value is converted once even if many members contain the union. */
export function sharedUnion(
  type: UnionNode,
  context: CompileContext,
  unions: Map<string, Converter>,
): Converter {
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
