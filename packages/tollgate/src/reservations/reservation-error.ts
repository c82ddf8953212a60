export type ReservationErrorCode =
  /** The call is invalid. */
  | "INVALID_ARGUMENT"
  /** The counter has as many open reservations as it may have. */
  | "TOO_MANY_RESERVATIONS";

/** A reservation that was not made, or a commit that was not taken. Callers see the message. */
export class ReservationError extends Error {
  override readonly name = "ReservationError";
  readonly code: ReservationErrorCode;
  /** The faulty field; empty for none. */
  readonly field: string;
  constructor(code: ReservationErrorCode, field: string, message: string) {
    super(field === "" ? message : `${field} ${message}`);
    this.code = code;
    this.field = field;
  }
}
