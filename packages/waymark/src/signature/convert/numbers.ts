import { type Converter, scalarConverter } from "./converter.ts";
import type { JsonNumbers } from "./json-numbers.ts";
import { numberFromJson, numberFromText, numberProblem } from "./scalars.ts";

export function numberConverter(numbers: JsonNumbers): Converter {
  return scalarConverter({
    expected: "a number",
    problem: numberProblem,
    rank: "number",
    text: numberFromText,
    json: (value) => numberFromJson(value, numbers),
    fitting: "number",
  });
}
