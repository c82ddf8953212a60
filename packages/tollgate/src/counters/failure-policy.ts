/**
 * What happens to calls while the store is sick, in front of a store: the failure policy and its circuit breaker.
 *
 * | the store                                      | the call                           | the breaker                    |
 * |------------------------------------------------|------------------------------------|--------------------------------|
 * | STORE_UNAVAILABLE, STORE_TIMEOUT, any other    | is answered by the policy          | a failure                      |
 * | DEADLINE_EXCEEDED: the caller's time is over   | fails, under every policy          | unanswered, after some patience |
 * | KEY_UNUSABLE: this key cannot be kept at all   | fails, under every policy          | says nothing                   |
 * | STORE_FULL: too many wait for it, or a server  | is answered by the policy          | says nothing                   |
 * | not asked: the breaker is open                 | is answered by the policy          | says nothing                   |
 *
 * A full queue is no failure: those that wait in it fail in their time if nobody answers, and the one server of a
 * cluster that hangs, with thousands refused at once, would have the others given up with it.
 *
 * Callers that give the store 20 ms (as Envoy does) would never see its time-out of 10 s, and a store that hangs
 * would look healthy: so calls that ended unanswered open the breaker, but only once nobody at all has had an answer
 * for a second, and only those that waited for `patience`. An impatient caller alone opens nothing.
 *
 * The order of what stands in front of a store: over-limit cache, failure policy, store. What is known to be over
 * stays refused while the store is away, and what `local` has seen reach its limit is over for the whole window.
 */
import { Admission, CircuitBreaker, type CircuitBreakerOptions } from "./circuit-breaker.ts";
import { type CounterStore, type CountRequest, Outcome, StoreError } from "./store.ts";

/** `error` fails the call, `allow` and `deny` answer it, `local` counts it elsewhere until the store is back. */
export type FailureMode = "error" | "allow" | "deny" | "local";

export interface FailurePolicyOptions {
  /** Default `error`. */
  readonly mode?: FailureMode;
  /** What `local` counts in; closed with the store. */
  readonly local?: CounterStore;
  /**
   * Calls that may wait for the store at once; beyond it they are answered by the policy. Default 50,000: more than
   * may wait for one server, so that one that hangs takes no room from the others.
   */
  readonly maxInFlight?: number;
  /** Milliseconds that a caller must have given the store before its leaving says anything. Default 10. */
  readonly patience?: number;
  readonly breaker?: CircuitBreakerOptions;
  /**
   * Called once for each call that the store failed, or was not asked for because it fails.
   * @param answered whether the policy answers the call; otherwise the caller gets the error, too
   */
  readonly onFailure?: (error: StoreError, answered: boolean) => void;
  /** Called when the store is given up and when it is back, with a line for the log. */
  readonly onTransition?: (degraded: boolean, message: string) => void;
}

const doing: Record<FailureMode, string> = {
  error: "calls fail",
  allow: "calls are allowed",
  deny: "calls are refused",
  local: "calls are counted in this process alone",
};

export class FailurePolicy implements CounterStore {
  readonly kind: string;
  readonly #store: CounterStore;
  readonly #mode: FailureMode;
  readonly #local: CounterStore | undefined;
  readonly #maxInFlight: number;
  readonly #patience: number;
  readonly #breaker: CircuitBreaker;
  readonly #clock: () => number;
  readonly #onFailure: (error: StoreError, answered: boolean) => void;
  readonly #onTransition: (degraded: boolean, message: string) => void;
  #inFlight = 0;
  /** Made once: an error costs microseconds, and while the breaker is open each call needs one. */
  #openError: StoreError;
  readonly #fullError: StoreError;

  /** @throws {TypeError} for `local` without a store to count in */
  constructor(store: CounterStore, options: FailurePolicyOptions = {}) {
    this.kind = store.kind;
    this.#store = store;
    this.#mode = options.mode ?? "error";
    this.#local = options.local;
    if (this.#mode === "local" && this.#local === undefined)
      throw new TypeError("the failure mode local needs a store to count in: give one as `local`");
    this.#maxInFlight = options.maxInFlight ?? 50_000;
    this.#patience = options.patience ?? 10;
    this.#breaker = new CircuitBreaker(options.breaker);
    this.#clock = options.breaker?.clock ?? (() => performance.now());
    this.#onFailure = options.onFailure ?? (() => {});
    this.#onTransition = options.onTransition ?? (() => {});
    this.#openError = new StoreError("STORE_UNAVAILABLE", `the ${this.kind} store is not asked: it fails`);
    this.#fullError = new StoreError(
      "STORE_FULL",
      `${this.#maxInFlight} calls wait for the ${this.kind} store already`,
    );
  }

  /** For a gauge: 1 while the store is not asked but by probes, else 0. */
  get degraded(): 0 | 1 {
    return this.#breaker.isOpen ? 1 : 0;
  }

  /** For a gauge: calls that wait for the store. */
  get inFlight(): number {
    return this.#inFlight;
  }

  count(request: CountRequest): void | Promise<void> {
    if (request.deadline !== 0 && request.deadline <= request.now)
      return this.#pass(
        new StoreError("DEADLINE_EXCEEDED", "the caller's deadline had passed before the count"),
      );
    const admission = this.#breaker.admit();
    if (admission === Admission.REFUSED) return this.#answer(request, this.#openError);
    if (this.#inFlight >= this.#maxInFlight) {
      this.#breaker.saidNothing(admission);
      return this.#answer(request, this.#fullError);
    }
    const begun = this.#clock();
    let pending: void | Promise<void>;
    try {
      pending = this.#store.count(request);
    } catch (error) {
      return this.#failed(request, admission, error);
    }
    if (pending === undefined) {
      this.#succeeded(admission, begun);
      return;
    }
    this.#inFlight += 1;
    return pending.then(
      () => {
        this.#inFlight -= 1;
        this.#succeeded(admission, begun);
      },
      (error: unknown) => {
        this.#inFlight -= 1;
        return this.#failed(request, admission, error);
      },
    );
  }

  async close(): Promise<void> {
    await Promise.all([this.#store.close(), this.#local?.close()]);
  }

  #succeeded(admission: Admission, begun: number): void {
    if (!this.#breaker.succeeded(admission, begun)) return;
    const seconds = Math.max(0, (this.#clock() - this.#breaker.openedAt) / 1000).toFixed(1);
    this.#onTransition(false, `the ${this.kind} store is back after ${seconds} s`);
  }

  #failed(request: CountRequest, admission: Admission, cause: unknown): void | Promise<void> {
    const error = asStoreError(cause, this.kind);
    if (error.code === "KEY_UNUSABLE") {
      this.#breaker.saidNothing(admission);
      return this.#pass(error);
    }
    if (error.code === "STORE_FULL") {
      this.#breaker.saidNothing(admission);
      return this.#answer(request, error);
    }
    const late = error.code === "DEADLINE_EXCEEDED";
    if (late && request.deadline - request.now < this.#patience) this.#breaker.saidNothing(admission);
    else if (late ? this.#breaker.unanswered(admission) : this.#breaker.failed(admission))
      this.#giveUp(error);
    return late ? this.#pass(error) : this.#answer(request, error);
  }

  #giveUp(error: StoreError): void {
    this.#openError = new StoreError(
      "STORE_UNAVAILABLE",
      `the ${this.kind} store is not asked: it fails (${error.message})`,
      { cause: error },
    );
    this.#onTransition(
      true,
      `the ${this.kind} store fails (${error.message}): ${doing[this.#mode]} until it is back`,
    );
  }

  /** The caller gets the error whatever the policy is. */
  #pass(error: StoreError): never {
    this.#onFailure(error, false);
    throw error;
  }

  #answer(request: CountRequest, error: StoreError): void | Promise<void> {
    if (this.#mode === "error") return this.#pass(error);
    this.#onFailure(error, true);
    if (this.#mode === "local") return this.#local!.count(request);
    const outcome = this.#mode === "allow" ? Outcome.ALLOWED : Outcome.DENIED;
    for (const count of request.counts) {
      count.outcome = outcome;
      count.after = 0;
    }
  }
}

function asStoreError(error: unknown, kind: string): StoreError {
  if (error instanceof StoreError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new StoreError("STORE_UNAVAILABLE", `the ${kind} store failed in an unknown way: ${message}`, {
    cause: error,
  });
}
