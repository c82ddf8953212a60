import type { Refinements, TypeNode } from "../model/signature.ts";
import { type Converter, INVALID, reject } from "./converter.ts";
import { type Check, numberCheck, stringCheck } from "./refinements.ts";

/** A converter that also checks the refinements of its type. */
export function checkedConverter(
  plain: Converter,
  kind: TypeNode["kind"],
  refinements: Refinements,
): Converter {
  const check = scalarCheck(kind, refinements);
  if (!check) return plain;
  const refine = (value: unknown, notes: Parameters<Converter["fromText"]>[1]): unknown => {
    if (value === INVALID) return INVALID;
    const message = check(value as never);
    return message === undefined ? value : reject(notes, message, true);
  };
  const { fitting: _, ...unchecked } = plain;
  return {
    ...unchecked,
    fromText: (text, notes) => refine(plain.fromText(text, notes), notes),
    fromItem: (value, notes) => refine(plain.fromItem(value, notes), notes),
    fromJson: (value, notes) => refine(plain.fromJson(value, notes), notes),
  };
}

function scalarCheck(kind: TypeNode["kind"], refinements: Refinements): Check | undefined {
  if (kind === "string") return stringCheck(refinements);
  return kind === "number" || kind === "bigint" ? numberCheck(refinements) : undefined;
}
