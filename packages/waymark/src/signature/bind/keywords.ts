import type { CompileContext } from "../convert/compile-context.ts";
import type { Converter } from "../convert/converter.ts";
import { otherNames } from "../convert/other-names.ts";
import { findDiscriminator } from "../convert/unions.ts";
import type { ObjectNode } from "../model/signature.ts";
import type { BindFault } from "./bind-faults.ts";
import type { GivenArguments } from "./given.ts";
import { type KeywordObject, type KeywordShape, type MissingPlace, makeShape } from "./keyword-object.ts";
import { makeUnion } from "./keyword-unions.ts";

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
    discriminator: objects.length > 1 ? findDiscriminator(objects) : undefined,
    variadic: shapes.some((shape) => shape.otherOf !== undefined),
  };
}

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
  return object.shapes.length === 1
    ? makeShape(object.shapes[0]!, given, place, faults)
    : makeUnion(object, given, place, reportsUnknown, faults);
}
