import type { Admission, CircuitBreaker } from "./circuit-breaker.ts";
import type { AnyRequest, FailureMode, Method } from "./failure-methods.ts";
import { type CounterStore, Outcome, StoreError, type Waiter } from "./store.ts";

const modeTexts: Record<FailureMode, string> = {
  error: "calls fail",
  allow: "calls are allowed",
  deny: "calls are refused",
  local: "each process counts its own calls",
};

/** A call of a store. */
export interface StoreCall {
  readonly request: AnyRequest;
  readonly method: Method<AnyRequest>;
  readonly waiter: Waiter;
  readonly admission: Admission;
}

export interface FailedCallsOptions {
  /** The store's kind. */
  readonly kind: string;
  readonly mode: FailureMode;
  readonly local: CounterStore | undefined;
  readonly maxInFlight: number;
  readonly patience: number;
  readonly breaker: CircuitBreaker;
  readonly onFailure: (error: StoreError, answered: boolean) => void;
  readonly onTransition: (degraded: boolean, message: string) => void;
}

/** Answers the calls that the store failed, or that did not reach it. Its methods return and throw as `countFor` of a store. */
export class FailedCalls {
  readonly #options: FailedCallsOptions;
  /** Made once: creating an error takes microseconds, and each call needs one while the breaker is open. */
  #openError: StoreError;
  readonly #fullError: StoreError;

  constructor(options: FailedCallsOptions) {
    this.#options = options;
    const { kind, maxInFlight } = options;
    this.#openError = new StoreError("STORE_UNAVAILABLE", `the circuit breaker of the ${kind} store is open`);
    this.#fullError = new StoreError("STORE_FULL", `${maxInFlight} calls already wait for the ${kind} store`);
  }

  /** The caller's deadline had passed before the call. */
  late(): never {
    this.#pass(new StoreError("DEADLINE_EXCEEDED", "the caller's deadline passed before the count"));
  }

  /** The breaker is open. */
  refused(call: StoreCall): boolean {
    return this.#answer(call, this.#openError);
  }

  /** Too many calls wait for the store. */
  full(call: StoreCall): boolean {
    this.#options.breaker.inconclusive(call.admission);
    return this.#answer(call, this.#fullError);
  }

  /** The store failed the call. */
  failed(call: StoreCall, cause: unknown): boolean {
    const { request, admission } = call;
    const { breaker, patience, kind } = this.#options;
    const error = asStoreError(cause, kind);
    if (error.code === "KEY_UNUSABLE") {
      breaker.inconclusive(admission);
      return this.#pass(error);
    }
    if (error.code === "STORE_FULL") {
      breaker.inconclusive(admission);
      return this.#answer(call, error);
    }
    const late = error.code === "DEADLINE_EXCEEDED";
    if (late && request.deadline - request.now < patience) breaker.inconclusive(admission);
    else if (late ? breaker.unanswered(admission) : breaker.failed(admission)) this.#degrade(error);
    return late ? this.#pass(error) : this.#answer(call, error);
  }

  #degrade(error: StoreError): void {
    const { kind, mode, onTransition } = this.#options;
    this.#openError = new StoreError(
      "STORE_UNAVAILABLE",
      `the circuit breaker of the ${kind} store is open (${error.message})`,
      { cause: error },
    );
    onTransition(true, `the ${kind} store fails (${error.message}): ${modeTexts[mode]} until it is back`);
  }

  /** Fails the call in every mode. */
  #pass(error: StoreError): never {
    this.#options.onFailure(error, false);
    throw error;
  }

  #answer({ request, method, waiter }: StoreCall, error: StoreError): boolean {
    const { mode, local, onFailure } = this.#options;
    if (mode === "error" || method.mustPass?.(request, mode) === true) return this.#pass(error);
    onFailure(error, true);
    if (mode === "local" && method.isAllowedLocally?.(request) !== true)
      return method.ask(local!, request, waiter);
    method.answer(request, mode === "deny" ? Outcome.DENIED : Outcome.ALLOWED);
    return true;
  }
}

function asStoreError(error: unknown, kind: string): StoreError {
  if (error instanceof StoreError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new StoreError("STORE_UNAVAILABLE", `unexpected error of the ${kind} store: ${message}`, {
    cause: error,
  });
}
