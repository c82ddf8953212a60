import { FORMATS } from "../convert/formats.ts";
import type { Refinements, ScalarNode, TypeNode } from "../model/signature.ts";

/** The refined type, or the problem as text that follows the refinement's name. */
export type RefineResult = { readonly type: TypeNode } | { readonly problem: string };

/** Adds one JSDoc refinement to a type, or to the members of a union that it fits. */
export function refineType(type: TypeNode, key: keyof Refinements, text: string): RefineResult {
  const value = parseValue(key, text);
  if (typeof value === "object") return value;
  const refined = apply(type, key, value);
  return refined ? { type: refined } : { problem: `does not apply to this type${hint(key, value)}` };
}

type RefinementValue = string | number | true;

function parseValue(key: keyof Refinements, text: string): RefinementValue | { readonly problem: string } {
  if (key === "integer") return text === "" || { problem: `takes no value, not "${text}"` };
  if (key === "pattern") {
    try {
      new RegExp(text, "u");
    } catch (error) {
      return { problem: `is not a regular expression: ${(error as Error).message}` };
    }
    return text === "" ? { problem: "needs a regular expression" } : text;
  }
  if (key === "format") {
    if (FORMATS.has(text)) return text;
    return { problem: `does not support "${text}"; the formats are ${[...FORMATS.keys()].join(", ")}` };
  }
  const value = Number(text);
  if (text === "" || !Number.isFinite(value)) return { problem: `needs a number, not "${text}"` };
  const isLength = key === "minLength" || key === "maxLength";
  if (isLength && !(Number.isInteger(value) && value >= 0))
    return { problem: `needs a length, not "${text}"` };
  return value;
}

function hint(key: keyof Refinements, value: RefinementValue): string {
  return key === "format" ? ` ("${value}" is a format of ${FORMATS.get(String(value))!.applies}s)` : "";
}

function apply(type: TypeNode, key: keyof Refinements, value: RefinementValue): TypeNode | undefined {
  switch (type.kind) {
    case "union": {
      const members = type.members.map((member) => apply(member, key, value));
      if (members.every((member) => member === undefined)) return undefined;
      return { ...type, members: members.map((member, index) => member ?? type.members[index]!) };
    }
    case "array": {
      if (key === "minLength" || key === "maxLength") return withRefinement(type, key, value);
      const items = apply(type.items, key, value);
      return items && { ...type, items };
    }
    case "string":
    case "number":
    case "bigint":
    case "date":
      return fits(type.kind, key, value) ? withRefinement(type, key, value) : undefined;
    default:
      return undefined;
  }
}

function fits(kind: ScalarNode["kind"], key: keyof Refinements, value: RefinementValue): boolean {
  if (key === "format") {
    if (kind === "date") return value === "date" || value === "date-time";
    return FORMATS.get(String(value))!.applies === (kind === "string" ? "string" : "number");
  }
  if (key === "minimum" || key === "maximum" || key === "integer")
    return kind === "number" || kind === "bigint";
  return kind === "string";
}

function withRefinement<Node extends { readonly refinements?: Refinements }>(
  node: Node,
  key: keyof Refinements,
  value: RefinementValue,
): Node {
  return { ...node, refinements: { ...node.refinements, [key]: value } };
}
