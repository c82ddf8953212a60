import { type ParseArgsConfig, parseArgs } from "node:util";
import { EntriesTextError, entriesFromText } from "../protocol/entries-text.ts";
import type { Entry } from "../protocol/messages.ts";
import { nearest } from "../rules/nearest.ts";

/** Error for an invalid command line. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly code = "USAGE";
}

/**
 * Rewrites Go's flags for `parseArgs`: one or two dashes, `_` for `-`, `=true` or `=false` after a boolean flag. Values
 * are unchanged.
 */
function normaliseFlags(
  argv: readonly string[],
  known: Readonly<Record<string, { type: string }>>,
): string[] {
  return argv.map((word) => {
    const [, written, value = ""] = /^--?([a-z][a-z_-]*)(=.*)?$/s.exec(word) ?? [];
    if (written === undefined) return word;
    const name = written === "h" ? "help" : written.replaceAll("_", "-");
    const flag = Object.hasOwn(known, name) ? known[name] : undefined;
    // With one dash, parseArgs would take an unknown flag for several short ones.
    if (flag === undefined) return `--${written}${value}`;
    if (flag.type === "boolean" && value === "=true") return `--${name}`;
    if (flag.type === "boolean" && value === "=false") return `--no-${name}`;
    return `--${name}${value}`;
  });
}

/**
 * Parses flags and, if `operands` is set, other arguments.
 * @throws {UsageError}
 */
export function parseFlags<const Flags extends NonNullable<ParseArgsConfig["options"]>>(
  argv: readonly string[],
  options: Flags,
  operands: boolean,
) {
  try {
    return parseArgs({
      args: normaliseFlags(argv, options),
      options,
      strict: true,
      allowPositionals: operands,
      allowNegative: true,
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const unknown = /^Unknown option '-{1,2}([^']*)'/.exec(message)?.[1];
    if (unknown === undefined) throw new UsageError(message);
    const near = nearest(unknown, Object.keys(options));
    const hint = near === undefined ? "" : `; did you mean -${near}?`;
    throw new UsageError(`unknown flag -${unknown}${hint}`);
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
