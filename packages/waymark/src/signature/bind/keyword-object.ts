import { type Converter, INVALID, type Note, shortened, shortenedPath } from "../convert/converter.ts";
import type { OtherNames } from "../convert/other-names.ts";
import type { Discriminator } from "../convert/unions.ts";
import { didYouMean } from "../model/nearest-name.ts";
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
export interface KeywordShape {
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

/** The place that a fault of a missing argument names. */
export type MissingPlace = "query" | "body";

/** Creates the keyword object of one shape. Adds the faults of the arguments to `faults`. */
export function makeShape(
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
