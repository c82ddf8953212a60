import { FORMATS } from "../convert/formats.ts";
import type { Refinements, ScalarNode, TypeNode } from "../model/signature.ts";
import { mergeRefinements } from "./merge-refinements.ts";

/** The refined type, or the problem as text that follows the refinement's name. */
export type RefineResult = { readonly type: TypeNode } | { readonly problem: string };

/** Adds one JSDoc refinement to a type, or to the members of a union that it fits. */
export function refineType(type: TypeNode, key: keyof Refinements, text: string): RefineResult {
  const value = parseValue(key, text);
  if (typeof value === "object") return value;
  const refined = apply(type, key, value);
  if (refined) return { type: refined };
  if (hasRefinement(type, key)) return { problem: "contradicts the one that the type already has" };
  return { problem: `does not apply to this type${hint(key, value)}` };
}

function hasRefinement(type: TypeNode, key: keyof Refinements): boolean {
  if (type.kind === "union") return type.members.some((member) => hasRefinement(member, key));
  return "refinements" in type && type.refinements?.[key] !== undefined;
}

type RefinementValue = string | number | true;

function parseValue(key: keyof Refinements, text: string): RefinementValue | { readonly problem: string } {
  if (key === "integer" || key === "uniqueItems")
    return text === "" || { problem: `takes no value, not "${text}"` };
  if (key === "pattern") return parsePattern(text);
  if (key === "format") {
    if (FORMATS.has(text)) return text;
    return { problem: `does not support "${text}"; the formats are ${[...FORMATS.keys()].join(", ")}` };
  }
  const value = Number(text);
  if (text === "" || !Number.isFinite(value)) return { problem: `needs a number, not "${text}"` };
  if (LENGTHS.has(key) && !(Number.isInteger(value) && value >= 0))
    return { problem: `needs a length, not "${text}"` };
  if (key === "multipleOf" && value <= 0) return { problem: `needs a number above 0, not "${text}"` };
  return value;
}

const LENGTHS = new Set(["minLength", "maxLength", "minItems", "maxItems"]);

/** `^a+$`, or `/^a+$/` without flags, or with the flag `u` or `v`, which a pattern has anyway. */
function parsePattern(text: string): string | { readonly problem: string } {
  const written = /^\/(.*)\/([a-z]*)$/s.exec(text);
  const [, source = text, flags = ""] = written ?? [];
  if (flags !== "" && flags !== "u") {
    return {
      problem: `has the flag${flags.length === 1 ? "" : "s"} "${flags}", which JSON Schema does not have. Write a pattern without flags, for instance [Aa] instead of the flag i`,
    };
  }
  if (source === "") return { problem: "needs a regular expression" };
  try {
    new RegExp(source, "u");
  } catch (error) {
    return { problem: `is not a regular expression: ${(error as Error).message}` };
  }
  return source;
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
      const own = ITEMS[key];
      if (own) return withRefinement(type, own, value);
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

/** The refinements of a list itself. Others apply to its items. */
const ITEMS: Readonly<Partial<Record<keyof Refinements, "minItems" | "maxItems" | "uniqueItems">>> = {
  minLength: "minItems",
  maxLength: "maxItems",
  minItems: "minItems",
  maxItems: "maxItems",
  uniqueItems: "uniqueItems",
};

const NUMERIC = new Set<keyof Refinements>([
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "integer",
]);
const TEXTUAL = new Set<keyof Refinements>(["minLength", "maxLength", "pattern"]);

function fits(kind: ScalarNode["kind"], key: keyof Refinements, value: RefinementValue): boolean {
  if (key === "format") {
    if (kind === "date") return value === "date" || value === "date-time";
    return FORMATS.get(String(value))!.applies === (kind === "string" ? "string" : "number");
  }
  if (NUMERIC.has(key)) return kind === "number" || kind === "bigint";
  return TEXTUAL.has(key) && kind === "string";
}

/** A type that already has the refinement, from an alias or another part of an intersection, keeps both. */
function withRefinement<Node extends { readonly refinements?: Refinements }>(
  node: Node,
  key: keyof Refinements,
  value: RefinementValue,
): Node | undefined {
  const refinements = mergeRefinements(node.refinements ?? {}, { [key]: value });
  return refinements && { ...node, refinements };
}
