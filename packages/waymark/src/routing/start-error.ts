export type StartErrorCode =
  | "INVALID_PREFIX"
  | "PREFIX_NOT_FOUND"
  | "AMBIGUOUS_MODULE"
  | "UNSUPPORTED_MODULE"
  | "BROKEN_MODULE"
  | "AMBIGUOUS_ROUTE"
  | "INVALID_VERB"
  | "INVALID_OPTION"
  | "START_FAILED";

/** An error that prevents startup. The message names the file, and the line if it is known. */
export class StartError extends Error {
  override readonly name = "StartError";
  readonly code: StartErrorCode;

  constructor(code: StartErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
