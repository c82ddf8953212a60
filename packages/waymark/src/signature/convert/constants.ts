import { type Converter, INVALID, scalarConverter } from "./converter.ts";

export function nullConverter(): Converter {
  return scalarConverter({
    expected: "null",
    rank: "null",
    text: (text) => (text === "" ? null : INVALID),
    json: (value) => (value === null ? null : INVALID),
  });
}

/** `undefined` and `never`: no value fits. */
export function absentConverter(): Converter {
  return scalarConverter({
    expected: "absent",
    rank: "null",
    text: () => INVALID,
    json: () => INVALID,
  });
}
