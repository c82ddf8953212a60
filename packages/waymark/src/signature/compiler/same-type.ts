import type { Definitions, TypeNode } from "../model/signature.ts";
import { literalKind } from "../source/combine.ts";

/** A type with the definitions that its references name. */
export interface DefinedType {
  readonly type: TypeNode;
  readonly definitions: Definitions;
}

/**
 * Whether two types accept the same values. Ignores names, descriptions, JSDoc tags, and the order of members and
 * properties.
 */
export function sameType(
  one: DefinedType,
  other: DefinedType,
  known: ReadonlySet<string> = new Set(),
): boolean {
  const left = withoutCovered(membersOf(one));
  const right = withoutCovered(membersOf(other));
  const key = JSON.stringify([left.map(({ type }) => type), right.map(({ type }) => type)]);
  // Types that contain themselves are the same if no part differs.
  if (known.has(key)) return true;
  const seen = new Set([...known, key]);
  const covers = (some: readonly DefinedType[], others: readonly DefinedType[]): boolean =>
    some.every((member) => others.some((twin) => sameMember(member, twin, seen)));
  return covers(left, right) && covers(right, left);
}

/** The members of a union, through references. JSON has no undefined, and boolean is its two literals. */
function membersOf({ type, definitions }: DefinedType, depth = 5): DefinedType[] {
  const within = (part: TypeNode): DefinedType[] => membersOf({ type: part, definitions }, depth - 1);
  if (type.kind === "reference") return membersOf({ type: definitions[type.name]!, definitions }, depth);
  if (type.kind === "union")
    return type.members.flatMap((member) => membersOf({ type: member, definitions }, depth));
  if (type.kind === "undefined" || type.kind === "never") return [];
  // No value has a property of no type.
  if (type.kind === "object" && depth > 0) {
    if (type.properties.some((own) => !own.optional && within(own.type).length === 0)) return [];
  }
  if (type.kind !== "boolean") return [{ type, definitions }];
  return [true, false].map((value) => ({ type: { kind: "literal", value }, definitions }));
}

/** A primitive type covers its literals. */
function withoutCovered(members: readonly DefinedType[]): readonly DefinedType[] {
  const whole = new Set(members.filter(({ type }) => !("isTemplate" in type)).map(({ type }) => type.kind));
  return members.filter(({ type }) => type.kind !== "literal" || !whole.has(literalKind(type)));
}

function sameMember(one: DefinedType, other: DefinedType, seen: ReadonlySet<string>): boolean {
  const left = one.type;
  const right = other.type;
  const same = (a: TypeNode | undefined, b: TypeNode | undefined): boolean =>
    a && b
      ? sameType({ type: a, definitions: one.definitions }, { type: b, definitions: other.definitions }, seen)
      : a === b;
  if (left.kind === "object" && right.kind === "object") {
    const names = new Set([...left.properties, ...right.properties].map(({ name }) => name));
    const sameProperties = [...names].every((name) => {
      const a = left.properties.find((property) => property.name === name);
      const b = right.properties.find((property) => property.name === name);
      return a && b && a.optional === b.optional && same(a.type, b.type);
    });
    const patterns = (left.patterns ?? []).every(({ pattern, type }) =>
      same(type, right.patterns?.find((twin) => twin.pattern === pattern)?.type),
    );
    return (
      sameProperties &&
      same(left.index, right.index) &&
      patterns &&
      left.patterns?.length === right.patterns?.length
    );
  }
  if (left.kind === "array" && right.kind === "array") return same(left.items, right.items);
  if (left.kind === "tuple" && right.kind === "tuple") {
    return (
      left.items.length === right.items.length &&
      left.items.every((item, index) => {
        const twin = right.items[index]!;
        return item.optional === twin.optional && same(item.type, twin.type);
      }) &&
      same(left.rest, right.rest)
    );
  }
  return sameText(withoutTags(left), withoutTags(right));
}

/** A tag refines a type for Waymark alone. The compiler does not know those of aliases and items. */
function withoutTags(type: TypeNode): TypeNode {
  if (!("refinements" in type) || "isTemplate" in type) return type;
  const { refinements: _, ...plain } = type;
  return plain as TypeNode;
}

function sameText(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
