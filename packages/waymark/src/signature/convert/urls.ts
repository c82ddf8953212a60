import { type Converter, scalarConverter } from "./converter.ts";
import { urlFromText } from "./scalars.ts";
import { stringOr } from "./string-or.ts";

export function urlConverter(): Converter {
  return scalarConverter({
    expected: "an absolute URL",
    rank: "url",
    text: urlFromText,
    json: stringOr(urlFromText),
    keepsJson: false,
  });
}
