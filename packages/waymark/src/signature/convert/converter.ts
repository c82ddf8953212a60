import type { FieldValue, UploadedFile } from "../model/input.ts";

/** The result of a conversion if the value does not fit. The notes have the reason. */
export const INVALID: unique symbol = Symbol("invalid");

/**
 * The reason why a value does not fit. `path` leads from the argument to the faulty part (`.x[2]`). It is empty for
 * the argument itself.
 */
export interface Note {
  path: string;
  readonly message: string;
  /** The value has the right type but violates a bound. In a union, such a note is the most helpful one. */
  readonly near: boolean;
}

/**
 * The converter of one type. Each function returns the converted value, or adds a note and returns INVALID. It
 * neither calls the application's code nor throws.
 */
export interface Converter {
  /** The expected value, after "must be": `a number`. */
  readonly expected: string;
  /** The position in which a union tries it on text; see {@link RANKS}. */
  readonly rank: Rank;
  readonly fromText: (text: string, notes: Note[]) => unknown;
  readonly fromFile: (file: UploadedFile, notes: Note[]) => unknown;
  /**
   * Converts one of several values of a name: like {@link fromText} and {@link fromFile}, but never to a list of one.
   */
  readonly fromItem: (value: FieldValue, notes: Note[]) => unknown;
  /** Converts the values of a repeated name. */
  readonly fromList: (values: readonly FieldValue[], notes: Note[]) => unknown;
  /** Converts a JSON value. Only strings can become another type: a Date, a URL, a bigint. */
  readonly fromJson: (value: unknown, notes: Note[]) => unknown;
  /** True if `fromJson` returns a fitting value itself. A container of such values needs no copy. */
  readonly keepsJson: boolean;
  /** The `typeof` of JSON values that always fit (numbers: within 2^53), so that the converter need not run. */
  readonly fitting?: "string" | "number" | "boolean";
}

/** After this many notes, the rest of a list or an object is not checked. This bounds the answer. */
export const MAXIMUM_NOTES = 100;

/** The order in which a union tries its members on text. */
export const RANKS = [
  "literal",
  "null",
  "number",
  "bigint",
  "boolean",
  "date",
  "url",
  "object",
  "string",
  "list",
  "unknown",
  "file",
] as const;

export type Rank = (typeof RANKS)[number];

export function reject(notes: Note[], message: string, near = false): typeof INVALID {
  notes.push({ path: "", message, near });
  return INVALID;
}

/** Prepends `step` to the path of every note since `from`. */
export function prefixNotes(notes: Note[], from: number, step: string): void {
  for (let index = from; index < notes.length; index++) notes[index]!.path = step + notes[index]!.path;
}

/** Bounds a name from the client, which an answer may repeat a hundred times. */
const MAXIMUM_NAME = 100;

export function shortened(name: string): string {
  return name.length > MAXIMUM_NAME ? `${name.slice(0, MAXIMUM_NAME)}…` : name;
}

/** A property as part of a path: `.x`, `["a b"]`. */
export function propertyStep(name: string): string {
  const own = shortened(name);
  return /^[\p{ID_Start}$_][\p{ID_Continue}$-]*…?$/u.test(own) ? `.${own}` : `[${JSON.stringify(own)}]`;
}

/** Bounds a path, which the client determines and each of a hundred faults may repeat. */
const MAXIMUM_PATH = 500;

/** Shortens a long path in the middle. */
export function shortenedPath(path: string): string {
  return path.length > MAXIMUM_PATH
    ? `${path.slice(0, MAXIMUM_PATH / 2)}…${path.slice(-MAXIMUM_PATH / 2)}`
    : path;
}

/** The kind of a JSON value, after "got": `a string`. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return `a ${typeof value}`;
}

/** Whether a JSON value always fits by {@link Converter.fitting}. */
export function isFitting(value: unknown, fitting: Converter["fitting"]): boolean {
  return (
    typeof value === fitting &&
    (fitting !== "number" ||
      ((value as number) <= Number.MAX_SAFE_INTEGER && (value as number) >= Number.MIN_SAFE_INTEGER))
  );
}

interface ScalarParts {
  readonly expected: string;
  /** The expected JSON value, if it differs. */
  readonly expectedInJson?: string;
  readonly rank: Rank;
  /** Returns the value, or INVALID without a note. The note is then `must be <expected>`. */
  readonly text: (text: string) => unknown;
  readonly json: (value: unknown) => unknown;
  /** False if `json` may return another value than its argument. Default true. */
  readonly keepsJson?: boolean;
  readonly fitting?: Converter["fitting"];
  readonly file?: (file: UploadedFile) => unknown;
  /** A better reason than `must be <expected>` for a value that is INVALID. */
  readonly problem?: (value: unknown, isText: boolean) => string | undefined;
}

/** A converter of single values. It rejects lists, and files unless `file` is given. */
export function scalarConverter(parts: ScalarParts): Converter {
  const { expected, expectedInJson = expected, rank, text, json, keepsJson = true, file, problem } = parts;
  const fromText = (value: string, notes: Note[]): unknown => {
    const result = text(value);
    if (result !== INVALID) return result;
    const reason = problem?.(value, true);
    return reject(notes, reason ?? `must be ${expected}${file ? ", got text" : ""}`, reason !== undefined);
  };
  const fromFile = (value: UploadedFile, notes: Note[]): unknown =>
    file ? file(value) : reject(notes, `must be ${expected}, got a file`);
  return {
    expected,
    rank,
    keepsJson,
    ...(parts.fitting && { fitting: parts.fitting }),
    fromText,
    fromFile,
    fromItem: (value, notes) => (typeof value === "string" ? fromText(value, notes) : fromFile(value, notes)),
    fromList: (values, notes) => reject(notes, `must be given once, was given ${values.length} times`),
    fromJson: (value, notes) => {
      const result = json(value);
      if (result !== INVALID) return result;
      const reason = problem?.(value, false);
      return reject(
        notes,
        reason ?? `must be ${expectedInJson}, got ${describe(value)}`,
        reason !== undefined,
      );
    },
  };
}
