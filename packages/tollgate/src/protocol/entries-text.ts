import type { Entry } from "./messages.ts";

/** A text that is not a list of key=value pairs. */
export class EntriesTextError extends Error {
  override readonly name = "EntriesTextError";
  readonly code = "MALFORMED_ENTRIES";
}

/**
 * Reads one descriptor, `k=v,k2=v2`. Commas separate pairs (`\,` is a comma inside a value), the first `=` separates
 * key and value.
 * @throws {EntriesTextError}
 */
export function entriesFromText(text: string): Entry[] {
  return text.split(/(?<!\\),/).map((pair) => {
    const plain = pair.replaceAll("\\,", ",");
    const equals = plain.indexOf("=");
    if (equals <= 0)
      throw new EntriesTextError(`"${plain}" is not a key=value pair; commas separate several pairs`);
    return { key: plain.slice(0, equals), value: plain.slice(equals + 1) };
  });
}
