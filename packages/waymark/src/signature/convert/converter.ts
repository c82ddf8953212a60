import type { FieldValue, UploadedFile } from "../model/input.ts";

/** What a conversion answers when the value does not fit; the reason stands in its notes. */
export const INVALID: unique symbol = Symbol("invalid");

/** Why a value does not fit; `path` leads from the argument to the part at fault (`.x[2]`), empty for itself. */
export interface Note {
  path: string;
  readonly message: string;
  /** The value has the right type and breaks a bound of it: of a union's reasons, this one says most. */
  readonly near: boolean;
}

/**
 * One type, compiled: makes its values from what a request can carry. Each function answers the
 * value, or INVALID after adding a note. None of them calls the application's code or throws.
 */
export interface Converter {
  /** What it takes, to follow "must be": `a number`. */
  readonly expected: string;
  /** Where a union tries it on text; see {@link RANK}. */
  readonly rank: number;
  readonly fromText: (text: string, notes: Note[]) => unknown;
  readonly fromFile: (file: UploadedFile, notes: Note[]) => unknown;
  /** From one of a name's several values: as {@link fromText} and {@link fromFile}, but never a list of one. */
  readonly fromItem: (value: FieldValue, notes: Note[]) => unknown;
  /** From a name that came several times. */
  readonly fromList: (values: readonly FieldValue[], notes: Note[]) => unknown;
  /** From a JSON value, where only strings become something else: a Date, a URL, a bigint. */
  readonly fromJson: (value: unknown, notes: Note[]) => unknown;
  /** True where `fromJson` answers the very value that it was given, if it fits: what holds only such need no copy. */
  readonly keepsJson: boolean;
  /** The `typeof` of JSON values that fit whatever they are (numbers: within 2^53), so that nobody need be asked. */
  readonly fitting?: "string" | "number" | "boolean";
}

/** After so many reasons, the rest of a list or an object is not looked at: the answer would outgrow the request. */
export const MAXIMUM_NOTES = 100;

/** The order in which a union tries its members on text. */
export const RANK = {
  literal: 0,
  null: 1,
  number: 2,
  bigint: 3,
  boolean: 4,
  date: 5,
  url: 6,
  object: 7,
  string: 8,
  list: 9,
  unknown: 10,
  file: 11,
} as const;

export function reject(notes: Note[], message: string, near = false): typeof INVALID {
  notes.push({ path: "", message, near });
  return INVALID;
}

/** Puts `step` before the way of every note since `from`. */
export function prefixNotes(notes: Note[], from: number, step: string): void {
  for (let index = from; index < notes.length; index++) notes[index]!.path = step + notes[index]!.path;
}

/** A client's own name in an answer, where it may stand a hundred times. */
const MAXIMUM_NAME = 100;

export function shortened(name: string): string {
  return name.length > MAXIMUM_NAME ? `${name.slice(0, MAXIMUM_NAME)}…` : name;
}

/** How a property is written in a path: `.x`, `["a b"]`. */
export function propertyStep(name: string): string {
  const own = shortened(name);
  return /^[\p{ID_Start}$_][\p{ID_Continue}$-]*…?$/u.test(own) ? `.${own}` : `[${JSON.stringify(own)}]`;
}

/** A client chooses the path of a deep value, and each of a hundred faults repeats it. */
const MAXIMUM_PATH = 500;

/** A path without its middle if it is long. */
export function shortenedPath(path: string): string {
  return path.length > MAXIMUM_PATH
    ? `${path.slice(0, MAXIMUM_PATH / 2)}…${path.slice(-MAXIMUM_PATH / 2)}`
    : path;
}

/** What a JSON value is, to follow "got": `a string`. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return `a ${typeof value}`;
}

/** Whether a JSON value is one of those that {@link Converter.fitting} speaks of. */
export function isFitting(value: unknown, fitting: Converter["fitting"]): boolean {
  return (
    typeof value === fitting &&
    (fitting !== "number" ||
      ((value as number) <= Number.MAX_SAFE_INTEGER && (value as number) >= Number.MIN_SAFE_INTEGER))
  );
}

interface ScalarParts {
  readonly expected: string;
  /** What JSON must have, where that is not the same. */
  readonly expectedInJson?: string;
  readonly rank: number;
  /** The value, or INVALID without a note: the note is `must be <expected>`. */
  readonly text: (text: string) => unknown;
  readonly json: (value: unknown) => unknown;
  /** False where `json` makes something else of a value that fits. Default true. */
  readonly keepsJson?: boolean;
  readonly fitting?: Converter["fitting"];
  readonly file?: (file: UploadedFile) => unknown;
  /** A better reason than `must be <expected>`, for a value that is INVALID. */
  readonly problem?: (value: unknown, isText: boolean) => string | undefined;
}

/** A converter of a single value: it takes no list, and no file unless it says so. */
export function scalarConverter(parts: ScalarParts): Converter {
  const { expected, expectedInJson = expected, rank, text, json, keepsJson = true, file, problem } = parts;
  const fromText = (value: string, notes: Note[]): unknown => {
    const result = text(value);
    if (result !== INVALID) return result;
    const reason = problem?.(value, true);
    return reject(notes, reason ?? `must be ${expected}`, reason !== undefined);
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
    fromList: (values, notes) => reject(notes, `must come once, came ${values.length} times`),
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
