import type { LiteralNode } from "../model/signature.ts";
import { type Converter, INVALID, scalarConverter } from "./converter.ts";
import { bigintFromText, booleanFromText, numberFromText } from "./scalars.ts";
import { stringOr } from "./string-or.ts";

export function literalConverter({ value }: LiteralNode): Converter {
  const actual = typeof value === "object" ? BigInt(value.bigint) : value;
  const expected = typeof actual === "string" ? JSON.stringify(actual) : String(actual);
  const parts = { expected, rank: "literal" as const };
  if (typeof actual === "string") {
    const same = (given: unknown) => (given === actual ? actual : INVALID);
    return scalarConverter({ ...parts, text: same, json: same });
  }
  if (typeof actual === "bigint") {
    const same = (text: string) => (bigintFromText(text) === actual ? actual : INVALID);
    return scalarConverter({ ...parts, text: same, json: stringOr(same), keepsJson: false });
  }
  const parse: (text: string) => unknown = typeof actual === "number" ? numberFromText : booleanFromText;
  return scalarConverter({
    ...parts,
    text: (text) => (parse(text) === actual ? actual : INVALID),
    json: (given) => (given === actual ? actual : INVALID),
  });
}
