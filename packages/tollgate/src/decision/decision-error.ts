export type DecisionErrorCode =
  /** The request is invalid. */
  | "INVALID_ARGUMENT"
  /** No rules are loaded yet. */
  | "UNAVAILABLE";

/** A request that could not be decided. Callers see the message. */
export class DecisionError extends Error {
  override readonly name = "DecisionError";
  readonly code: DecisionErrorCode;
  constructor(code: DecisionErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
