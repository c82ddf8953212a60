import { type Converter, INVALID, scalarConverter } from "./converter.ts";
import { booleanFromText } from "./scalars.ts";

export function booleanConverter(): Converter {
  return scalarConverter({
    expected: "true or false",
    rank: "boolean",
    text: booleanFromText,
    json: (value) => (typeof value === "boolean" ? value : INVALID),
    fitting: "boolean",
  });
}
