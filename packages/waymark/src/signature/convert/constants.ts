import { type Converter, INVALID, RANK, scalarConverter } from "./converter.ts";

export function nullConverter(): Converter {
  return scalarConverter({
    expected: "null",
    rank: RANK.null,
    text: (text) => (text === "" ? null : INVALID),
    json: (value) => (value === null ? null : INVALID),
  });
}

/** `undefined` and `never`: no value fits. */
export function absentConverter(): Converter {
  return scalarConverter({
    expected: "absent",
    rank: RANK.null,
    text: () => INVALID,
    json: () => INVALID,
  });
}
