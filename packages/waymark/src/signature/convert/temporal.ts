import { TEMPORAL_TYPES, type TemporalType } from "../model/temporal.ts";
import { type Converter, INVALID, scalarConverter } from "./converter.ts";

/** Real texts are shorter, and the parser must not read megabytes. */
const MAXIMUM_TEXT = 200;

/** A type of `Temporal` from ISO 8601 text, by the rules of its `from`. */
export function temporalConverter(type: TemporalType): Converter {
  const text = (value: string): unknown => {
    if (value.length > MAXIMUM_TEXT) return INVALID;
    try {
      return Temporal[type].from(value);
    } catch {
      return INVALID;
    }
  };
  return scalarConverter({
    expected: `a Temporal.${type} (ISO 8601, such as ${TEMPORAL_TYPES[type]})`,
    rank: "date",
    text,
    json: (value) => (typeof value === "string" ? text(value) : INVALID),
    keepsJson: false,
  });
}
