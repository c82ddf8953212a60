export type DecisionErrorCode =
  /** The request itself is wrong. */
  | "INVALID_ARGUMENT"
  /** There is nothing to decide with yet. */
  | "UNAVAILABLE";

/** A request that could not be decided. The message is meant for the caller. */
export class DecisionError extends Error {
  override readonly name = "DecisionError";
  readonly code: DecisionErrorCode;
  constructor(code: DecisionErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
