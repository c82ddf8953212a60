import { StoreError } from "../counters/store.ts";
import { DecisionError } from "../decision/decision-error.ts";
import { JsonRequestError } from "../protocol/json-request.ts";
import { OversizedRequestError } from "../protocol/request-limits.ts";
import { WireError } from "../protocol/wire.ts";
import { ReservationError } from "../reservations/reservation-error.ts";

/** The reason of a call's failure, safe for its caller: without a store's messages, keys, credentials or stacks. */
export interface CallFailure {
  readonly reason:
    | "INVALID_ARGUMENT"
    | "RESOURCE_EXHAUSTED"
    | "UNAVAILABLE"
    | "DEADLINE_EXCEEDED"
    | "UNIMPLEMENTED"
    | "INTERNAL";
  readonly message: string;
}

/** Returns the failure that the caller of a decision sees; undefined for an unexpected error. */
export function knownFailure(error: unknown): CallFailure | undefined {
  if (error instanceof StoreError) return storeFailures[error.code];
  if (error instanceof OversizedRequestError) return { reason: "RESOURCE_EXHAUSTED", message: error.message };
  if (error instanceof DecisionError) return { reason: error.code, message: error.message };
  if (error instanceof ReservationError) {
    const { code, message } = error;
    return { reason: code === "TOO_MANY_RESERVATIONS" ? "RESOURCE_EXHAUSTED" : code, message };
  }
  if (error instanceof WireError)
    return { reason: "INVALID_ARGUMENT", message: `the request cannot be decoded: ${error.message}` };
  if (error instanceof JsonRequestError) return { reason: "INVALID_ARGUMENT", message: error.message };
  return undefined;
}

const storeFailures: Record<StoreError["code"], CallFailure> = {
  STORE_UNAVAILABLE: { reason: "UNAVAILABLE", message: "the counter store is unavailable" },
  STORE_FULL: { reason: "UNAVAILABLE", message: "too many calls are waiting for the counter store" },
  STORE_TIMEOUT: { reason: "UNAVAILABLE", message: "the counter store did not answer in time" },
  DEADLINE_EXCEEDED: {
    reason: "DEADLINE_EXCEEDED",
    message: "the deadline passed before the counter store answered",
  },
  KEY_UNUSABLE: {
    reason: "INVALID_ARGUMENT",
    message: "a descriptor is too long for the counter store's keys",
  },
  UNSUPPORTED: {
    reason: "UNIMPLEMENTED",
    message: "the counter store keeps no reservations: use the embedded store or the key-value store",
  },
};
