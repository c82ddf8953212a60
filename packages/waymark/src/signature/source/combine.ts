import type { LiteralNode, ObjectNode, PropertyNode, ScalarNode, TypeNode } from "../model/signature.ts";

export const NEVER: ScalarNode = { kind: "never" };
export const UNKNOWN: ScalarNode = { kind: "unknown" };

/** A union with flattened, distinct members. A single member replaces the union. */
export function unionOf(types: readonly TypeNode[]): TypeNode {
  const flat = types.flatMap((type) => (type.kind === "union" ? type.members : [type]));
  if (flat.some((type) => type.kind === "unknown")) return UNKNOWN;
  const members = new Map<string, TypeNode>();
  for (const member of flat) if (member.kind !== "never") members.set(JSON.stringify(member), member);
  const unique = [...members.values()];
  if (unique.length === 0) return NEVER;
  return unique.length === 1 ? unique[0]! : { kind: "union", members: unique };
}

/** The intersection of the types. Merges objects and drops a brand (`string & { __brand: ... }`). */
export const intersectionOf = (types: readonly TypeNode[]): TypeNode => types.reduce(intersect, UNKNOWN);

function intersect(one: TypeNode, other: TypeNode): TypeNode {
  if (one.kind === "unknown") return other;
  if (other.kind === "unknown") return one;
  if (one.kind === "union") return unionOf(one.members.map((member) => intersect(member, other)));
  if (other.kind === "union") return unionOf(other.members.map((member) => intersect(one, member)));
  if (one.kind === "object" && other.kind === "object") return mergeObjects(one, other);
  if (one.kind === "object") return intersect(other, one);
  if (other.kind === "object") return isPrimitive(one) ? one : NEVER;
  if (one.kind === "literal" || other.kind === "literal") return intersectLiteral(one, other);
  if (one.kind !== other.kind) return NEVER;
  if ("refinements" in one || "refinements" in other) {
    const refinements = { ...(one as ScalarNode).refinements, ...(other as ScalarNode).refinements };
    return { ...(one as ScalarNode), refinements };
  }
  return JSON.stringify(one) === JSON.stringify(other) ? one : NEVER;
}

const PRIMITIVES = new Set(["string", "number", "bigint", "boolean", "literal"]);
const isPrimitive = (type: TypeNode): boolean => PRIMITIVES.has(type.kind);

function intersectLiteral(one: TypeNode, other: TypeNode): TypeNode {
  const literal = (one.kind === "literal" ? one : other) as LiteralNode;
  const wide = one.kind === "literal" ? other : one;
  if (wide.kind === "literal") return JSON.stringify(wide) === JSON.stringify(literal) ? literal : NEVER;
  const kind = typeof literal.value === "object" ? "bigint" : typeof literal.value;
  return wide.kind === kind ? literal : NEVER;
}

function mergeObjects(one: ObjectNode, other: ObjectNode): TypeNode {
  const properties = new Map<string, PropertyNode>(
    one.properties.map((property) => [property.name, property]),
  );
  for (const property of other.properties) {
    const known = properties.get(property.name);
    const merged = known
      ? {
          ...known,
          ...property,
          optional: known.optional && property.optional,
          type: intersect(known.type, property.type),
        }
      : property;
    // Members that a literal distinguishes have no common value.
    if (merged.type.kind === "never" && !merged.optional) return NEVER;
    properties.set(property.name, merged);
  }
  const index = one.index && other.index ? intersect(one.index, other.index) : (one.index ?? other.index);
  return { kind: "object", properties: [...properties.values()], ...(index && { index }) };
}

/** Removes `undefined` from a type. `optional` says whether it was present. */
export function splitUndefined(type: TypeNode): { readonly type: TypeNode; readonly optional: boolean } {
  if (type.kind === "undefined") return { type: NEVER, optional: true };
  if (type.kind !== "union") return { type, optional: false };
  const members = type.members.filter((member) => member.kind !== "undefined");
  return { type: unionOf(members), optional: members.length < type.members.length };
}

export function literal(value: string | number | boolean | bigint): LiteralNode {
  return {
    kind: "literal",
    value: typeof value === "bigint" ? { bigint: String(value) } : value,
  };
}

/** The widened type of a literal that is not constant. */
export function widen(type: TypeNode): TypeNode {
  if (type.kind !== "literal") return type;
  return {
    kind: typeof type.value === "object" ? "bigint" : (typeof type.value as "string" | "number" | "boolean"),
  };
}

/** The names of a type of literals. Undefined if it has other members. */
export function literalNames(type: TypeNode): string[] | undefined {
  if (type.kind === "never") return [];
  if (type.kind === "literal") {
    return typeof type.value === "string" || typeof type.value === "number"
      ? [String(type.value)]
      : undefined;
  }
  if (type.kind !== "union") return undefined;
  const names = type.members.map(literalNames);
  return names.every((name) => name !== undefined) ? names.flat() : undefined;
}
