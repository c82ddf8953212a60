import { AdminStoreError } from "../counters/counter-admin.ts";
import { StoreError } from "../counters/store.ts";

export type AdminErrorCode =
  /** A field of the request is missing or wrong. */
  | "INVALID"
  /** No rule limits the descriptor. */
  | "NO_LIMIT"
  /** There is no such override. */
  | "NOT_FOUND"
  /** Another override has the place, or too many exist, or other operators change them at the same time. */
  | "CONFLICT"
  /** The store or the rule cannot do this. */
  | "UNSUPPORTED"
  /** No rules yet, or the store failed. */
  | "UNAVAILABLE";

/** A failed request of an operator. */
export class AdminError extends Error {
  override readonly name = "AdminError";
  readonly code: AdminErrorCode;
  /** The steps that were done before it failed. */
  readonly done: readonly string[];
  /** The faulty field; empty for none. */
  readonly field: string;

  constructor(
    code: AdminErrorCode,
    message: string,
    { done = [], field = "", cause }: { done?: readonly string[]; field?: string; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.done = done;
    this.field = field;
  }
}

/** A fault of a field. */
export function invalid(field: string, message: string): AdminError {
  return new AdminError("INVALID", `${field} ${message}`, { field });
}

/**
 * Does work in the store.
 * @param outcome what a failure means for the operator
 * @param done the steps that were done before
 * @throws {AdminError}
 */
export async function storeFailure<T>(
  outcome: string,
  work: () => T | Promise<T>,
  done: readonly string[] = [],
): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof AdminStoreError) {
      const isCursor = cause.code === "BAD_CURSOR";
      const options = { done, cause, ...(isCursor && { field: "next" }) };
      throw new AdminError(isCursor ? "INVALID" : "UNSUPPORTED", cause.message, options);
    }
    if (!(cause instanceof StoreError)) throw cause;
    throw new AdminError("UNAVAILABLE", `the store failed (${cause.message}): ${outcome}`, { done, cause });
  }
}
