import { INVALID } from "../convert/converter.ts";
import type { Discriminator } from "../convert/unions.ts";
import type { BindFault } from "./bind-faults.ts";
import { type GivenArguments, ORIGIN, originPlace } from "./given.ts";
import {
  convertGiven,
  type KeywordObject,
  type KeywordShape,
  type MissingPlace,
  makeShape,
} from "./keyword-object.ts";

/** Creates the keyword object of a union: of the shape that its discriminator names, else of the first that fits. */
export function makeUnion(
  object: KeywordObject,
  given: GivenArguments,
  place: MissingPlace,
  reportsUnknown: boolean,
  faults: BindFault[],
): object {
  const { shapes, discriminator } = object;
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
