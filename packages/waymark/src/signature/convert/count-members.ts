import type { ObjectNode, Refinements, TypeNode, UnionNode } from "../model/signature.ts";
import { type Converter, isFitting } from "./converter.ts";
import { listCheck, numberCheck, stringCheck } from "./refinements.ts";

/**
 * Number of members of all objects in a JSON value that the type's converter accepts and keeps. Undefined for any
 * value that the converter refuses or replaces. It may be undefined for other values, too: the converter decides.
 */
export type CountMembers = (value: unknown) => number | undefined;

const UNFIT = undefined;

/**
 * Checks and counts JSON values of a type in one pass. Undefined if some of the type's values are converted, if the type
 * contains itself, or if its check may take long.
 */
export function compileCount(type: TypeNode): CountMembers | undefined {
  switch (type.kind) {
    case "string":
    case "number":
    case "boolean":
      return countScalar(type.kind, type.refinements);
    case "null":
      return (value) => (value === null ? 0 : UNFIT);
    case "undefined":
    case "never":
      return () => UNFIT;
    case "literal":
      return typeof type.value === "object" ? undefined : (value) => (value === type.value ? 0 : UNFIT);
    case "array":
      return countList(type.items, type.refinements);
    case "object":
      return countObject(type);
    case "union":
      return countUnion(type);
    default:
      return undefined;
  }
}

type Fitting = NonNullable<Converter["fitting"]>;

function countScalar(fitting: Fitting, refinements: Refinements | undefined): CountMembers | undefined {
  // A pattern may take long. It must not run twice for a text that does not match.
  if (refinements?.pattern !== undefined) return undefined;
  const check = refinements && (fitting === "string" ? stringCheck(refinements) : numberCheck(refinements));
  return check === undefined
    ? (value) => (isFitting(value, fitting) ? 0 : UNFIT)
    : (value) => (isFitting(value, fitting) && check(value as never) === undefined ? 0 : UNFIT);
}

function countList(items: TypeNode, refinements: Refinements | undefined): CountMembers | undefined {
  const count = compileCount(items);
  if (count === undefined) return undefined;
  const check = refinements && listCheck(refinements);
  return (value) => {
    if (!Array.isArray(value)) return UNFIT;
    let members = 0;
    for (let index = 0; index < value.length; index++) {
      const inside = count(value[index]);
      if (inside === UNFIT) return UNFIT;
      members += inside;
    }
    return check?.(value) === undefined ? members : UNFIT;
  };
}

interface Property {
  readonly optional: boolean;
  readonly name: string;
  /** The `typeof` of its values, if it decides. */
  readonly fitting: Fitting | undefined;
  readonly count: CountMembers;
  /** The position of the next property in a document that keeps the type's order. */
  readonly next: number;
}

/** An object without undeclared names. */
function countObject(type: ObjectNode): CountMembers | undefined {
  if (type.index !== undefined || type.patterns !== undefined) return undefined;
  const properties: Property[] = [];
  for (const { name, type: own, optional } of type.properties) {
    const count = compileCount(own);
    // An absent `constructor` must not be inherited.
    if (count === undefined || name in Object.prototype) return undefined;
    properties.push({ name, optional, fitting: fittingOf(own), count, next: properties.length + 1 });
  }
  const byName = new Map(properties.map((property) => [property.name, property]));
  const required = properties.filter(({ optional }) => !optional).length;
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return UNFIT;
    let members = 0;
    let came = 0;
    let at = 0;
    // V8 reads the values of such a loop by position.
    for (const name in value) {
      const expected = properties[at];
      const property = expected?.name === name ? expected : byName.get(name);
      if (property === undefined) return UNFIT;
      at = property.next;
      members++;
      if (!property.optional) came++;
      const own = (value as Record<string, unknown>)[name];
      if (isFitting(own, property.fitting)) continue;
      const inside = property.count(own);
      if (inside === UNFIT) return UNFIT;
      members += inside;
    }
    return came === required ? members : UNFIT;
  };
}

function fittingOf(type: TypeNode): Fitting | undefined {
  if (type.kind !== "string" && type.kind !== "number" && type.kind !== "boolean") return undefined;
  return type.refinements === undefined ? type.kind : undefined;
}

/** A union with at most one member for objects and lists, such as `Item | null`. It reads each part of a value once. */
function countUnion({ members }: UnionNode): CountMembers | undefined {
  if (members.some(({ kind }) => kind === "union")) return undefined;
  if (members.filter(({ kind }) => kind === "object" || kind === "array").length > 1) return undefined;
  const counts: CountMembers[] = [];
  for (const member of members) {
    const count = compileCount(member);
    if (count === undefined) return undefined;
    counts.push(count);
  }
  return (value) => {
    for (const count of counts) {
      const inside = count(value);
      if (inside !== UNFIT) return inside;
    }
    return UNFIT;
  };
}
