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

/** What keeps an application from starting. The message names the file, with its line where there is one. */
export class StartError extends Error {
  override readonly name = "StartError";
  readonly code: StartErrorCode;

  constructor(code: StartErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
