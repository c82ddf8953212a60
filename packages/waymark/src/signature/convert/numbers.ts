import { type Converter, RANK, scalarConverter } from "./converter.ts";
import type { JsonNumbers } from "./json-numbers.ts";
import { bigintFromText, bigintProblem, numberFromJson, numberFromText, numberProblem } from "./scalars.ts";
import { stringOr } from "./string-or.ts";

export function numberConverter(numbers: JsonNumbers): Converter {
  return scalarConverter({
    expected: "a number",
    problem: numberProblem,
    rank: RANK.number,
    text: numberFromText,
    json: (value) => numberFromJson(value, numbers),
    fitting: "number",
  });
}

export function bigintConverter(): Converter {
  return scalarConverter({
    expected: "an integer",
    expectedInJson: "an integer, written as a string",
    problem: bigintProblem,
    rank: RANK.bigint,
    text: bigintFromText,
    json: stringOr(bigintFromText),
    keepsJson: false,
  });
}
