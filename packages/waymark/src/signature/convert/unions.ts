import { asObject } from "../model/keyword-shapes.ts";
import type { ObjectNode, TypeNode, UnionNode } from "../model/signature.ts";
import type { CompileContext } from "./compile-context.ts";
import {
  type Converter,
  describe,
  INVALID,
  type Note,
  prefixNotes,
  propertyStep,
  RANKS,
  reject,
} from "./converter.ts";

/** A union. It tries its members on text in the order of {@link RANKS}, not in the order of the source. */
export function unionConverter(type: UnionNode, context: CompileContext): Converter {
  const members = type.members.map((member) => context.compile(member));
  const byRank = members.toSorted((one, other) => RANKS.indexOf(one.rank) - RANKS.indexOf(other.rank));
  const expected = orList(members.map((member) => member.expected));
  const takesList = members.some((member) => member.rank === "list" || member.rank === "unknown");
  const discriminated = discriminatedConverter(type, members, context);
  const { outcomes } = context;

  const firstOf = (
    candidates: readonly Converter[],
    notes: Note[],
    got: string,
    attempt: (member: Converter) => unknown,
  ): unknown => {
    const before = notes.length;
    let best: Note[] | undefined;
    for (const member of candidates) {
      const result = attempt(member);
      if (result !== INVALID) {
        notes.length = before;
        return result;
      }
      const own = notes.splice(before);
      if (isNearer(own, best)) best = own;
    }
    // A member that fits except for its parts or bounds gives a better reason than the list of all members.
    if (best?.some(isNear)) {
      notes.push(...best);
      return INVALID;
    }
    return reject(notes, `must be ${expected}${got}`);
  };

  return {
    expected,
    rank: byRank[0]!.rank,
    keepsJson: members.every((member) => member.keepsJson),
    fromText: (text, notes) => firstOf(byRank, notes, "", (member) => member.fromText(text, notes)),
    fromFile: (file, notes) =>
      firstOf(byRank, notes, ", got a file", (member) => member.fromFile(file, notes)),
    fromItem: (value, notes) => firstOf(byRank, notes, "", (member) => member.fromItem(value, notes)),
    fromList: (values, notes) =>
      takesList
        ? firstOf(byRank, notes, "", (member) => member.fromList(values, notes))
        : reject(notes, `must be given once, was given ${values.length} times`),
    fromJson: (value, notes) => {
      if (discriminated && typeof value === "object" && value !== null && !Array.isArray(value)) {
        return discriminated(value as Record<string, unknown>, notes);
      }
      outcomes.begin();
      const result = firstOf(members, notes, `, got ${describe(value)}`, (member) =>
        member.fromJson(value, notes),
      );
      outcomes.end();
      return result;
    },
  };
}

const isNear = (note: Note): boolean => note.near || note.path !== "";

/** Whether these notes come from a member that fits better: only its parts are at fault, and fewer of them. */
function isNearer(own: readonly Note[], best: readonly Note[] | undefined): boolean {
  if (!best) return true;
  const near = own.some(isNear);
  return near === best.some(isNear) ? near && own.length < best.length : near;
}

function orList(texts: readonly string[]): string {
  const unique = [...new Set(texts)];
  return unique.length < 2
    ? (unique[0] ?? "absent")
    : `${unique.slice(0, -1).join(", ")} or ${unique.at(-1)}`;
}

export interface Discriminator {
  readonly name: string;
  /** The member of each literal, by its index in the union. */
  readonly members: ReadonlyMap<unknown, number>;
  readonly expected: string;
}

/** The property whose literal types distinguish the object members of a union, if there is one. */
export function findDiscriminator(members: readonly (ObjectNode | undefined)[]): Discriminator | undefined {
  const objects = members.filter((member) => member !== undefined);
  if (objects.length < 2) return undefined;
  for (const { name } of objects[0]!.properties) {
    const table = new Map<unknown, number>();
    const clear = members.every((member, index) => {
      if (!member) return true;
      const property = member.properties.find((one) => one.name === name);
      const literals = property && !property.optional ? literalValues(property.type) : undefined;
      if (!literals || literals.some((literal) => table.has(literal))) return false;
      for (const literal of literals) table.set(literal, index);
      return true;
    });
    if (clear) {
      const expected = orList(
        [...table.keys()].map((value) => (typeof value === "string" ? JSON.stringify(value) : String(value))),
      );
      return { name, members: table, expected };
    }
  }
  return undefined;
}

function literalValues(type: TypeNode): unknown[] | undefined {
  if (type.kind === "literal") return typeof type.value === "object" ? undefined : [type.value];
  if (type.kind !== "union") return undefined;
  const values = type.members.map(literalValues);
  return values.every((value) => value !== undefined) ? values.flat() : undefined;
}

/** Kinds that accept no JSON object. */
const NO_OBJECTS: ReadonlySet<TypeNode["kind"]> = new Set([
  "string",
  "number",
  "bigint",
  "boolean",
  "date",
  "url",
  "null",
  "undefined",
  "never",
  "literal",
  "temporal",
  "array",
  "tuple",
  "file",
  "blob",
  "bytes",
]);

function discriminatedConverter(
  type: UnionNode,
  converters: readonly Converter[],
  context: CompileContext,
): ((value: Record<string, unknown>, notes: Note[]) => unknown) | undefined {
  const discriminator = findDiscriminator(
    type.members.map((member) => asObject(member, context.definitions)),
  );
  if (!discriminator) return undefined;
  // Another member may accept an object without the property.
  const isObject = (member: TypeNode) => asObject(member, context.definitions) !== undefined;
  if (!type.members.every((member) => isObject(member) || NO_OBJECTS.has(member.kind))) return undefined;
  const { name, members, expected } = discriminator;
  return (value, notes) => {
    const index = Object.hasOwn(value, name) ? members.get(value[name]) : undefined;
    if (index !== undefined) return converters[index]!.fromJson(value, notes);
    const start = notes.length;
    reject(notes, Object.hasOwn(value, name) ? `must be ${expected}` : "is required");
    prefixNotes(notes, start, propertyStep(name));
    return INVALID;
  };
}
