import { type Converter, scalarConverter } from "./converter.ts";
import { bigintFromText, bigintProblem } from "./scalars.ts";
import { stringOr } from "./string-or.ts";

export function bigintConverter(): Converter {
  return scalarConverter({
    expected: "an integer",
    expectedInJson: "an integer, written as a string",
    problem: bigintProblem,
    rank: "bigint",
    text: bigintFromText,
    json: stringOr(bigintFromText),
    keepsJson: false,
  });
}
