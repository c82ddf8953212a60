/** Checks the fields of reservations and commits, the same for both protocols. */
import { MAX_AMOUNT } from "../counters/reservations.ts";
import type { CommitFields, ReserveFields } from "../protocol/reservation-messages.ts";
import { ReservationError } from "./reservation-error.ts";

/** The longest time to live, in milliseconds. A longer one is cut. */
export const LONGEST_TTL = 3_600_000;

/** @throws {ReservationError} */
export function checkReserve({ amount, ttl }: ReserveFields): void {
  if (amount < 1)
    throw invalid("amount", "is missing or 0: it must be the expected cost of the request, at least 1");
  checkAmount("amount", amount);
  if (ttl !== undefined && !(ttl > 0))
    throw invalid("ttl", "must be a positive duration: a reservation of no time holds nothing");
}

/** @throws {ReservationError} */
export function checkCommit({ actual }: CommitFields): void {
  checkAmount("actual_amount", actual);
}

function checkAmount(field: string, amount: number): void {
  if (amount > MAX_AMOUNT) throw invalid(field, `must be at most ${MAX_AMOUNT}`);
}

/** @throws {ReservationError} for a descriptor that a reservation cannot have */
export function checkDescriptor(index: number, hasLimit: boolean, isNegativeHits: boolean): void {
  if (hasLimit)
    throw invalid(
      `descriptors[${index}].limit`,
      "is not possible here: a reservation has the limit of its rule",
    );
  if (isNegativeHits)
    throw invalid(
      `descriptors[${index}].is_negative_hits`,
      "is not possible here: a commit releases a reservation, and Report refunds hits",
    );
}

function invalid(field: string, problem: string): ReservationError {
  return new ReservationError("INVALID_ARGUMENT", field, problem);
}
