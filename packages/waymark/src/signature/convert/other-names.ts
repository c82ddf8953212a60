import type { ObjectNode } from "../model/signature.ts";
import type { CompileContext } from "./compile-context.ts";
import type { Converter } from "./converter.ts";
import { stringCheck } from "./refinements.ts";

/** The converter of an undeclared name. Undefined if an object type accepts no such name. */
export type OtherNames = (name: string) => Converter | undefined;

/** The converters of the names that an object type does not declare. Undefined if it accepts none. */
export function otherNames(type: ObjectNode, context: CompileContext): OtherNames | undefined {
  const index = type.index && context.compile(type.index);
  if (!type.patterns) return index && (() => index);
  const patterns = type.patterns.map(({ pattern, type: own }) => ({
    fits: stringCheck({ pattern })!,
    converter: context.compile(own),
  }));
  return (name) => patterns.find(({ fits }) => fits(name) === undefined)?.converter ?? index;
}
