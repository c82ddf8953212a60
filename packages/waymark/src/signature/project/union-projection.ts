import type {
  Definitions,
  LiteralNode,
  ObjectNode,
  PropertyNode,
  TypeNode,
  UnionNode,
} from "../model/signature.ts";
import { fits } from "./fits.ts";
import { objectProjection } from "./object-projection.ts";
import { hasItems, isObject, isOpaque } from "./opaque.ts";
import type { Projection, ProjectionContext } from "./projection-context.ts";

/** Kinds of members through which any object passes unchanged. */
const OPEN = new Set(["unknown", "untyped", "unreadable", "nonNull"]);

/**
 * An object is projected by the members that it fits: the one with its discriminant, else all whose declared
 * properties fit. An object that fits none is an error, because it must not be sent as a whole.
 */
export function unionProjection(type: UnionNode, context: ProjectionContext): Projection | undefined {
  const { definitions } = context;
  const members = type.members.flatMap((member) => resolved(member, definitions));
  if (members.some(({ kind }) => OPEN.has(kind))) return undefined;
  const objects = members.filter((member) => member.kind === "object");
  if (objects.some((member) => objectProjection(member, context) === undefined)) return undefined;
  const lists = members.filter(({ kind }) => kind === "array" || kind === "tuple");
  const stream = members.find(({ kind }) => kind === "stream");
  if (objects.length === 0 && lists.every((member) => context.project(member) === undefined))
    return stream && context.project(stream);
  const ofObject = chosenOf(
    objects,
    (one, value) => matching(one as ObjectNode[], value, definitions),
    (chosen) => objectProjection(merged(chosen as ObjectNode[]), context),
  );
  const ofList = chosenOf(
    lists,
    (each, value) => (each.length === 1 ? each : each.filter((one) => fits(one, value, definitions))),
    (chosen) => context.project(chosen[0]!),
  );
  const ofStream = stream && context.project(stream);
  return (value) => {
    if (!isObject(value)) return value;
    if (Array.isArray(value)) return ofList(value);
    if (ofStream !== undefined && hasItems(value)) return ofStream(value);
    return isOpaque(value) ? value : ofObject(value);
  };
}

/** A member that refers to a union contributes the members of that union. */
function resolved(type: TypeNode, definitions: Definitions): readonly TypeNode[] {
  if (type.kind === "union") return type.members.flatMap((member) => resolved(member, definitions));
  return type.kind === "reference" ? resolved(definitions[type.name]!, definitions) : [type];
}

/** Projects by the chosen members. Compiles each choice once. */
function chosenOf(
  members: readonly TypeNode[],
  choose: (members: readonly TypeNode[], value: object) => readonly TypeNode[],
  compile: (chosen: readonly TypeNode[]) => Projection | undefined,
): Projection {
  const known = new Map<string, Projection | undefined>();
  return (value) => {
    const chosen = choose(members, value as object);
    if (chosen.length === 0)
      throw new TypeError("the returned object fits no member of the union that the method declares");
    const key = chosen.map((one) => members.indexOf(one)).join();
    if (!known.has(key)) known.set(key, compile(chosen));
    const project = known.get(key);
    return project === undefined ? value : project(value);
  };
}

function matching(
  members: readonly ObjectNode[],
  value: object,
  definitions: Definitions,
): readonly ObjectNode[] {
  const names = discriminantsOf(members);
  const named = members.filter((member) =>
    names.every((name) =>
      fits(propertyOf(member, name)!.type, (value as Record<string, unknown>)[name], definitions),
    ),
  );
  const fitting = named.filter((member) => fits(member, value, definitions));
  // The value of a discriminated member may be wrong elsewhere. Only its declared properties are sent.
  return fitting.length === 0 && named.length === 1 && names.length > 0 ? named : fitting;
}

/** The properties that are literals in every member. */
function discriminantsOf([first, ...others]: readonly ObjectNode[]): string[] {
  const isLiteral = (property: PropertyNode | undefined) =>
    property !== undefined && !property.optional && literalsOf(property.type) !== undefined;
  return (first?.properties ?? [])
    .filter(
      (property) =>
        isLiteral(property) && others.every((other) => isLiteral(propertyOf(other, property.name))),
    )
    .map(({ name }) => name);
}

function literalsOf(type: TypeNode): readonly LiteralNode[] | undefined {
  if (type.kind === "literal") return [type];
  if (type.kind !== "union") return undefined;
  const members = type.members.filter((member) => member.kind === "literal");
  return members.length === type.members.length ? members : undefined;
}

function propertyOf({ properties }: ObjectNode, name: string): PropertyNode | undefined {
  return properties.find((property) => property.name === name);
}

/** One object type with the properties of all members. */
function merged(members: readonly ObjectNode[]): ObjectNode {
  if (members.length === 1) return members[0]!;
  const names = new Set(members.flatMap(({ properties }) => properties.map(({ name }) => name)));
  const indexes = members.flatMap(({ index }) => index ?? []);
  const patterns = members.flatMap((member) => member.patterns ?? []);
  return {
    kind: "object",
    properties: [...names].map((name) => {
      const types = members.flatMap((member) => propertyOf(member, name)?.type ?? member.index ?? []);
      return {
        name,
        optional: true,
        type: types.length === 1 ? types[0]! : { kind: "union", members: types },
      };
    }),
    ...(indexes.length > 0 && { index: { kind: "union", members: indexes } }),
    ...(patterns.length > 0 && { patterns }),
  };
}
