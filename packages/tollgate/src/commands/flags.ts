import { EntriesTextError, entriesFromText } from "../protocol/entries-text.ts";
import type { Entry } from "../protocol/messages.ts";

/** Error for an invalid command line. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly code = "USAGE";
}

/**
 * Rewrites Go's flags for `parseArgs`: one or two dashes, `_` for `-`, `=true` or `=false` after a boolean flag. Values
 * are unchanged.
 */
export function normaliseFlags(
  argv: readonly string[],
  known: Readonly<Record<string, { type: string }>>,
): string[] {
  return argv.map((word) => {
    const [, written, value = ""] = /^--?([a-z][a-z_-]*)(=.*)?$/s.exec(word) ?? [];
    if (written === undefined) return word;
    const name = written === "h" ? "help" : written.replaceAll("_", "-");
    const flag = Object.hasOwn(known, name) ? known[name] : undefined;
    if (flag === undefined) return word;
    if (flag.type === "boolean" && value === "=true") return `--${name}`;
    if (flag.type === "boolean" && value === "=false") return `--no-${name}`;
    return `--${name}${value}`;
  });
}

/**
 * Converts errors of `parseArgs`.
 * @throws {UsageError}
 */
export function orUsageError<Result>(parse: () => Result): Result {
  try {
    return parse();
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** @throws {UsageError} */
export function parseEntries(text: string): Entry[] {
  try {
    return entriesFromText(text);
  } catch (error) {
    if (!(error instanceof EntriesTextError)) throw error;
    throw new UsageError(`-descriptors ${text}: ${error.message}`);
  }
}

/** @throws {UsageError} */
export function wholeNumber(flag: string, text: string, minimum: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(number) || number < minimum) {
    throw new UsageError(`${flag} ${text}: must be a whole number, ${minimum} or more`);
  }
  return number;
}
