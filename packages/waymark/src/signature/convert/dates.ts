import { type Converter, INVALID, scalarConverter } from "./converter.ts";
import { FORMATS } from "./formats.ts";
import { dateFromText } from "./scalars.ts";
import { stringOr } from "./string-or.ts";

export function dateConverter(): Converter {
  return converter("a date or time (ISO 8601)", dateFromText);
}

/** A date in one notation: `@format date` or `@format date-time`. */
export function formattedDateConverter(format: string): Converter {
  const { expected, fits } = FORMATS.get(format)!;
  return converter(expected, (value) => (fits(value) ? dateFromText(value) : INVALID));
}

function converter(expected: string, text: (value: string) => unknown): Converter {
  return scalarConverter({ expected, rank: "date", text, json: stringOr(text), keepsJson: false });
}
