import type { CompileContext } from "../convert/compile-context.ts";
import { type Converter, INVALID, type Note, shortened, shortenedPath } from "../convert/converter.ts";
import { type OtherNames, otherNames } from "../convert/objects.ts";
import { type Discriminator, findDiscriminator } from "../convert/unions.ts";
import { didYouMean } from "../model/nearest-name.ts";
import type { ObjectNode } from "../model/signature.ts";
import type { BindFault } from "./bind-faults.ts";
import { type GivenArguments, ORIGIN, type Origin, originPlace } from "./given.ts";

/** A keyword argument: its slot and the converter of its value. */
export interface CompiledKeyword {
  readonly name: string;
  readonly slot: number;
  readonly optional: boolean;
  readonly converter: Converter;
}

/** One form of the keyword object. A union of object types has several. */
interface KeywordShape {
  readonly keywords: readonly CompiledKeyword[];
  readonly names: ReadonlySet<string>;
  /** The converters for undeclared names. Undefined if the type allows none. */
  readonly otherOf: OtherNames | undefined;
  readonly reportsUnknown: boolean;
}

export interface KeywordObject {
  readonly shapes: readonly KeywordShape[];
  readonly discriminator: Discriminator | undefined;
  /** Whether a shape accepts undeclared names. */
  readonly variadic: boolean;
}

export function compileKeywords(
  objects: readonly ObjectNode[],
  slots: ReadonlyMap<string, number>,
  context: CompileContext,
  schemaFor: (name: string) => Converter | undefined,
): KeywordObject {
  const shapes = objects.map(
    (object): KeywordShape => ({
      keywords: object.properties.map(({ name, type, optional }) => ({
        name,
        slot: slots.get(name)!,
        // The schema of an argument decides whether it may be absent.
        optional: optional || schemaFor(name) !== undefined,
        converter: schemaFor(name) ?? context.compile(type),
      })),
      names: new Set(object.properties.map((property) => property.name)),
      otherOf: otherNames(object, context),
      reportsUnknown: context.unknownKeywords === "reject",
    }),
  );
  return {
    shapes,
    discriminator: findDiscriminator(objects),
    variadic: shapes.some((shape) => shape.otherOf !== undefined),
  };
}

/** The place that a fault of a missing argument names. */
export type MissingPlace = "query" | "body";

/**
 * Creates the keyword object from the given arguments. Adds their faults to `faults`. The object has a null
 * prototype, because a client may choose its names.
 */
export function makeKeywords(
  object: KeywordObject,
  given: GivenArguments,
  place: MissingPlace,
  reportsUnknown: boolean,
  faults: BindFault[],
): object {
  const { shapes, discriminator } = object;
  if (shapes.length === 1) return makeShape(shapes[0]!, given, place, faults);
  if (discriminator) {
    const shape = chooseShape(object, discriminator, given, place, faults);
    return shape ? makeStrict(shape, object, given, place, reportsUnknown, faults) : Object.create(null);
  }
  let best: BindFault[] | undefined;
  for (const shape of shapes) {
    const own: BindFault[] = [];
    const result = makeStrict(shape, object, given, place, true, own);
    if (own.length === 0) return result;
    if (!best || own.length < best.length) best = own;
  }
  if (!reportsUnknown) {
    for (const shape of shapes) {
      const own: BindFault[] = [];
      const result = makeShape(shape, given, place, own);
      if (own.length === 0) return result;
      if (own.length < best!.length) best = own;
    }
  }
  faults.push(...best!);
  return Object.create(null);
}

function makeShape(
  shape: KeywordShape,
  given: GivenArguments,
  place: MissingPlace,
  faults: BindFault[],
): object {
  const result: Record<string, unknown> = Object.create(null);
  const { keywords, otherOf } = shape;
  for (let at = 0; at < keywords.length; at++) {
    const { name, slot, optional, converter } = keywords[at]!;
    const origin = given.origins[slot]!;
    if (origin !== ORIGIN.none)
      result[name] = convertGiven(converter, name, given.values[slot], origin, faults);
    else if (!optional) faults.push({ in: place, name, message: "is required" });
  }
  if (otherOf && given.extras) {
    for (const [name, { value, origin }] of given.extras) {
      const other = otherOf(name);
      if (other) result[name] = convertGiven(other, name, value, origin, faults);
      else if (shape.reportsUnknown) {
        const message = `is not an argument of this method${didYouMean(name, shape.names, faults.length)}`;
        faults.push({ in: originPlace(origin), name: shortened(name), message });
      }
    }
  }
  return result;
}

/** A member of a union also reports names that only other members declare. */
function makeStrict(
  shape: KeywordShape,
  object: KeywordObject,
  given: GivenArguments,
  place: MissingPlace,
  reportsUnknown: boolean,
  faults: BindFault[],
): object {
  const result = makeShape(shape, given, place, faults) as Record<string, unknown>;
  for (const other of object.shapes) {
    for (const { name, slot } of other.keywords) {
      const origin = given.origins[slot]!;
      if (origin === ORIGIN.none || shape.names.has(name) || name in result) continue;
      const own = shape.otherOf?.(name);
      if (own) result[name] = convertGiven(own, name, given.values[slot], origin, faults);
      else if (reportsUnknown)
        faults.push({ in: originPlace(origin), name, message: "does not belong here" });
    }
  }
  return result;
}

function chooseShape(
  { shapes }: KeywordObject,
  { name, members, expected }: Discriminator,
  given: GivenArguments,
  place: MissingPlace,
  faults: BindFault[],
): KeywordShape | undefined {
  const { slot } = shapes[0]!.keywords.find((keyword) => keyword.name === name)!;
  const origin = given.origins[slot]!;
  if (origin === ORIGIN.none) {
    faults.push({ in: place, name, message: "is required" });
    return undefined;
  }
  const value = given.values[slot];
  if (origin === ORIGIN.json) {
    const index = members.get(value);
    if (index !== undefined) return shapes[index];
  } else {
    // A literal has several spellings as text: true, yes, 1.
    const chosen = shapes.find((shape) => {
      const { converter } = shape.keywords.find((keyword) => keyword.name === name)!;
      return convertGiven(converter, name, value, origin, []) !== INVALID;
    });
    if (chosen) return chosen;
  }
  faults.push({ in: originPlace(origin), name, message: `must be ${expected}` });
  return undefined;
}

const scratch: Note[] = [];

/** The value of one argument. Adds its faults to `faults` under its name. */
export function convertGiven(
  converter: Converter,
  name: string,
  value: unknown,
  origin: Origin,
  faults: BindFault[],
): unknown {
  const result =
    origin === ORIGIN.json
      ? converter.fromJson(value, scratch)
      : typeof value === "string"
        ? converter.fromText(value, scratch)
        : Array.isArray(value)
          ? converter.fromList(value, scratch)
          : converter.fromFile(value as Parameters<Converter["fromFile"]>[0], scratch);
  if (result === INVALID) takeNotes(scratch, originPlace(origin), name, faults);
  return result;
}

/** Converts the notes of a conversion to faults of the argument `name`, and clears the notes. */
export function takeNotes(notes: Note[], place: BindFault["in"], name: string, faults: BindFault[]): void {
  for (const note of notes) {
    faults.push({ in: place, name: shortened(name) + shortenedPath(note.path), message: note.message });
  }
  notes.length = 0;
}
