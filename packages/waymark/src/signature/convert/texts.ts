import { type Converter, INVALID, scalarConverter } from "./converter.ts";

export function stringConverter(): Converter {
  return scalarConverter({
    expected: "text",
    expectedInJson: "a string",
    rank: "string",
    text: (text) => text,
    json: (value) => (typeof value === "string" ? value : INVALID),
    fitting: "string",
  });
}

/** Text in a URL, anything in JSON. */
export function untypedConverter(): Converter {
  return { ...stringConverter(), rank: "unknown", fromJson: (value) => value };
}
