import { type Converter, INVALID, RANK, scalarConverter } from "./converter.ts";

export function stringConverter(): Converter {
  return scalarConverter({
    expected: "text",
    expectedInJson: "a string",
    rank: RANK.string,
    text: (text) => text,
    json: (value) => (typeof value === "string" ? value : INVALID),
    fitting: "string",
  });
}

/** Text in a URL, anything in JSON. */
export function untypedConverter(): Converter {
  return { ...stringConverter(), rank: RANK.unknown, fromJson: (value) => value };
}
