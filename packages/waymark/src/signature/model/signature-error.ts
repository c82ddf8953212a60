import type { SourceLocation } from "./signature.ts";

export type SignatureErrorCode =
  | "UNREADABLE_TYPE"
  | "UNREADABLE_PARAMETER"
  | "UNREADABLE_SOURCE"
  | "COMPILED_SOURCE"
  | "MISPLACED_VERB"
  | "UNKNOWN_SCHEMA_KEY"
  | "INVALID_REFINEMENT";

/** A signature that cannot be served. The message has the place and a remedy. */
export class SignatureError extends Error {
  override readonly name = "SignatureError";
  readonly code: SignatureErrorCode;
  readonly location: SourceLocation | undefined;

  constructor(code: SignatureErrorCode, message: string, location?: SourceLocation) {
    super(location ? `${location.file}:${location.line}:${location.column}: ${message}` : message);
    this.code = code;
    this.location = location;
  }
}

/** The remedies for a type that cannot be read. */
export const WAYS_OUT =
  "Write a plain type, give the argument a schema (`static schema`), or declare it `unknown`.";
