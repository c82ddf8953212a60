import type { TypeNode } from "../model/signature.ts";

/** A value of each kind that can have a brand. */
const EXAMPLES: Readonly<Partial<Record<TypeNode["kind"], object>>> = {
  string: Object(""),
  number: Object(0),
  bigint: Object(0n),
  boolean: Object(true),
  date: new Date(0),
  url: new URL("http://localhost"),
  bytes: new Uint8Array(),
  array: [],
  tuple: [],
};

/**
 * Whether properties in an intersection with a type are a brand, which exists only for the compiler. A property that
 * the type's values have, such as `length`, is a condition and no brand.
 */
export function isBrand(type: TypeNode, names: readonly string[]): boolean {
  const kind = type.kind === "literal" ? typeof type.value : type.kind;
  const example = EXAMPLES[kind === "object" ? "bigint" : (kind as TypeNode["kind"])];
  return names.every((name) => !(example && name in example) && !/^\d+$/.test(name));
}
