import type { LiteralNode, ObjectNode, PropertyNode, ScalarNode, TypeNode } from "../model/signature.ts";
import { isBrand } from "./brands.ts";
import { mergeRefinements } from "./merge-refinements.ts";

export const NEVER: ScalarNode = { kind: "never" };
export const UNKNOWN: ScalarNode = { kind: "unknown" };
/** `any`, which differs from `unknown` only as a part of a union or an intersection: it absorbs the other parts. */
export const ANY: ScalarNode = { kind: "unknown" };
/** `object`, whose part of an intersection declares no names. */
export const OBJECT: ObjectNode = { kind: "object", properties: [], index: UNKNOWN };
/** `{}` */
export const NON_NULL: ScalarNode = { kind: "nonNull" };

/** A union with flattened, distinct members. A single member replaces the union. */
export function unionOf(types: readonly TypeNode[]): TypeNode {
  const flat = types.flatMap((type) => (type.kind === "union" ? type.members : [type]));
  if (flat.includes(ANY)) return ANY;
  if (flat.some((type) => type.kind === "unknown")) return UNKNOWN;
  // `{}` accepts what any other type accepts, except null.
  const isNullish = ({ kind }: TypeNode) => kind === "null" || kind === "undefined";
  // An object may still become part of an intersection, which `{}` alone would not show.
  const remains = (type: TypeNode) => isAnything(type) || isNullish(type) || STRUCTURED.has(type.kind);
  const some = flat.some(isAnything) ? flat.filter(remains) : flat;
  // A primitive type accepts its literals.
  const whole = new Set(some.filter((type) => !("refinements" in type)).map(({ kind }) => kind));
  const members = new Map<string, TypeNode>();
  for (const member of some) {
    const isCovered = member.kind === "literal" && whole.has(literalKind(member));
    if (member.kind !== "never" && !isCovered) members.set(JSON.stringify(member), member);
  }
  const both = [true, false].map((value) => JSON.stringify(literal(value)));
  if (both.every((key) => members.has(key))) {
    for (const key of both) members.delete(key);
    members.set("boolean", { kind: "boolean" });
  }
  const unique = [...members.values()];
  if (unique.length === 0) return NEVER;
  return unique.length === 1 ? unique[0]! : { kind: "union", members: unique };
}

const STRUCTURED = new Set(["object", "reference"]);

const isAnything = ({ kind }: TypeNode): boolean => kind === "nonNull";

/**
 * The intersection of the types. Merges objects and drops a brand (`string & { __brand: ... }`). Undefined if no type
 * node represents it exactly.
 */
export function intersectionOf(types: readonly TypeNode[]): TypeNode | undefined {
  if (types.includes(ANY)) return types.some(({ kind }) => kind === "never") ? NEVER : ANY;
  return valuesOfAll(types);
}

/** The values that fit all types. A property that is `any` in one part has the type of the other parts. */
export function valuesOfAll(types: readonly TypeNode[]): TypeNode | undefined {
  return types.reduce<TypeNode | undefined>((one, other) => one && intersect(one, other), UNKNOWN);
}

function intersect(one: TypeNode, other: TypeNode): TypeNode | undefined {
  if (one.kind === "never" || other.kind === "never") return NEVER;
  if (one.kind === "unknown") return other;
  if (other.kind === "unknown") return one;
  if (one.kind === "union") return intersectEach(one.members, other);
  if (other.kind === "union") return intersectEach(other.members, one);
  if (one.kind === "reference" || other.kind === "reference") return undefined;
  if (one.kind === "nonNull") return isNever(other) ? NEVER : other;
  if (other.kind === "nonNull") return isNever(one) ? NEVER : one;
  if (one.kind === "object" && other.kind === "object") {
    if (one === OBJECT) return other;
    return other === OBJECT ? one : mergeObjects(one, other);
  }
  if (one.kind === "object") return intersectBrand(other, one);
  if (other.kind === "object") return intersectBrand(one, other);
  if (one.kind === "literal" || other.kind === "literal") return intersectLiteral(one, other);
  if (one.kind !== other.kind) return DISJOINT.has(one.kind) && DISJOINT.has(other.kind) ? NEVER : undefined;
  const { refinements: left, ...plain } = one as ScalarNode;
  const { refinements: right, ...same } = other as ScalarNode;
  if (JSON.stringify(plain) !== JSON.stringify(same)) return undefined;
  const merged = mergeRefinements(left ?? {}, right ?? {});
  return merged && (left || right ? { ...plain, refinements: merged } : one);
}

function intersectBrand(type: TypeNode, { properties, index, patterns }: ObjectNode): TypeNode | undefined {
  if (isNever(type)) return NEVER;
  const names = properties.map(({ name }) => name);
  return !index && !patterns && isBrand(names) ? type : undefined;
}

/** Null and undefined, which no object type accepts. */
const isNever = ({ kind }: TypeNode): boolean => kind === "null" || kind === "undefined";

/** Kinds without a common value. */
const DISJOINT = new Set(["string", "number", "bigint", "boolean", "null", "undefined"]);

function intersectEach(members: readonly TypeNode[], other: TypeNode): TypeNode | undefined {
  const types = members.map((member) => intersect(member, other));
  return types.every((type) => type !== undefined) ? unionOf(types) : undefined;
}

function intersectLiteral(one: TypeNode, other: TypeNode): TypeNode | undefined {
  const literal = (one.kind === "literal" ? one : other) as LiteralNode;
  const wide = one.kind === "literal" ? other : one;
  if (wide.kind === "literal") return JSON.stringify(wide) === JSON.stringify(literal) ? literal : NEVER;
  if (!DISJOINT.has(wide.kind)) return undefined;
  if (wide.kind !== literalKind(literal)) return NEVER;
  // This function does not check whether the literal fits the refinements.
  return "refinements" in wide ? undefined : literal;
}

export const literalKind = ({ value }: LiteralNode): "string" | "number" | "boolean" | "bigint" =>
  typeof value === "object" ? "bigint" : (typeof value as "string" | "number" | "boolean");

function mergeObjects(one: ObjectNode, other: ObjectNode): TypeNode | undefined {
  if (one.patterns || other.patterns) return undefined;
  const properties: PropertyNode[] = [];
  for (const name of new Set([...one.properties, ...other.properties].map((property) => property.name))) {
    const left = one.properties.find((property) => property.name === name);
    const right = other.properties.find((property) => property.name === name);
    // An index signature applies to the declared names of the other side.
    const type = intersect(left?.type ?? one.index ?? UNKNOWN, right?.type ?? other.index ?? UNKNOWN);
    if (!type) return undefined;
    const optional = (left?.optional ?? true) && (right?.optional ?? true);
    // Members that a literal distinguishes have no common value.
    if (type.kind === "never" && !optional) return NEVER;
    properties.push({ ...left, ...right, name, type, optional });
  }
  const index = one.index && other.index ? intersect(one.index, other.index) : (one.index ?? other.index);
  if (one.index && other.index && !index) return undefined;
  return { kind: "object", properties, ...(index && { index }) };
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
