/**
 * The failure policy and its circuit breaker: they decide about calls while the store is unavailable.
 *
 * | result of the store                              | the call               | the breaker counts           |
 * |--------------------------------------------------|------------------------|------------------------------|
 * | STORE_UNAVAILABLE, STORE_TIMEOUT, other errors   | the policy answers it  | a failure                    |
 * | DEADLINE_EXCEEDED: the caller's deadline passed  | fails in every mode    | unanswered, after `patience` |
 * | KEY_UNUSABLE: the store cannot hold this key     | fails in every mode    | nothing                      |
 * | STORE_FULL: too many calls wait for a server     | the policy answers it  | nothing                      |
 * | no call: the breaker is open                     | the policy answers it  | nothing                      |
 *
 * A full queue is not a failure. The calls in the queue fail by themselves if no answer arrives. If one server of a
 * cluster hangs, thousands of calls are refused at once; as failures they would open the breaker for all servers.
 *
 * Callers with a timeout of 20 ms (Envoy's default) never see the store's timeout of 10 s, and a hanging store would
 * seem healthy. So unanswered calls also open the breaker, once no call has succeeded for a second. Only calls that
 * waited for `patience` count: one caller with a very short deadline opens nothing.
 *
 * The order in front of a store: over-limit cache, failure policy, store. So counters that are known to be over their
 * limit stay refused while the store is unavailable. Counters that reached their limit in `local` stay over for the window.
 */
import { acquireFor } from "./acquire.ts";
import { Admission, CircuitBreaker, type CircuitBreakerOptions } from "./circuit-breaker.ts";
import {
  type ReservationRequest,
  type ReservationStore,
  Step,
  settleFor,
  settleFrom,
  Verdict,
} from "./reservations.ts";
import {
  type AcquireRequest,
  type CounterStore,
  type CountRequest,
  countFor,
  Outcome,
  promised,
  StoreError,
  type Waiter,
} from "./store.ts";

/** `error` fails the call, `allow` and `deny` answer it, `local` counts it in another store until the store recovers. */
export type FailureMode = "error" | "allow" | "deny" | "local";

export interface FailurePolicyOptions {
  /** Default `error`. */
  readonly mode?: FailureMode;
  /** The store of mode `local`. It is closed together with the main store. */
  readonly local?: CounterStore;
  /**
   * Calls that may wait for the store at once. The policy answers further calls. Default 50,000: more than may wait
   * for one server, so a hanging server leaves room for the others.
   */
  readonly maxInFlight?: number;
  /** The shortest deadline whose expiry counts as unanswered, in milliseconds. Default 10. */
  readonly patience?: number;
  readonly breaker?: CircuitBreakerOptions;
  /**
   * Called once for each call that the store failed, or that the open breaker kept from the store.
   * @param answered whether the policy answers the call. If not, the caller gets the error.
   */
  readonly onFailure?: (error: StoreError, answered: boolean) => void;
  /** Called with a line for the log when the breaker opens and when it closes. */
  readonly onTransition?: (degraded: boolean, message: string) => void;
}

const modeTexts: Record<FailureMode, string> = {
  error: "calls fail",
  allow: "calls are allowed",
  deny: "calls are refused",
  local: "each process counts its own calls",
};

export class FailurePolicy implements ReservationStore {
  readonly kind: string;
  readonly readsPlaces: boolean;
  readonly readsPlacesToSettle: boolean;
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
  /** Reused by the next calls. */
  readonly #waits: Wait[] = [];
  /** Made once: creating an error takes microseconds, and each call needs one while the breaker is open. */
  #openError: StoreError;
  readonly #fullError: StoreError;

  /** @throws {TypeError} for `local` without a store to count in */
  constructor(store: CounterStore, options: FailurePolicyOptions = {}) {
    this.kind = store.kind;
    this.#store = store;
    this.#mode = options.mode ?? "error";
    this.#local = options.local;
    if (this.#mode === "local" && this.#local === undefined)
      throw new TypeError("the failure mode `local` needs a store: pass one as the option `local`");
    this.readsPlaces = store.readsPlaces === true && (this.#local?.readsPlaces ?? true);
    this.readsPlacesToSettle = [store, this.#local].every(readsPlacesToSettle);
    this.#maxInFlight = options.maxInFlight ?? 50_000;
    this.#patience = options.patience ?? 10;
    this.#breaker = new CircuitBreaker(options.breaker);
    this.#clock = options.breaker?.clock ?? (() => performance.now());
    this.#onFailure = options.onFailure ?? (() => {});
    this.#onTransition = options.onTransition ?? (() => {});
    this.#openError = new StoreError(
      "STORE_UNAVAILABLE",
      `the circuit breaker of the ${this.kind} store is open`,
    );
    this.#fullError = new StoreError(
      "STORE_FULL",
      `${this.#maxInFlight} calls already wait for the ${this.kind} store`,
    );
  }

  /** A gauge: 1 while only probes reach the store, else 0. */
  get degraded(): 0 | 1 {
    return this.#breaker.isOpen ? 1 : 0;
  }

  /** A gauge: the number of calls that wait for the store. */
  get inFlight(): number {
    return this.#inFlight;
  }

  count(request: CountRequest): void | Promise<void> {
    return promised((waiter) => this.#ask(request, counting, waiter));
  }

  countFor(request: CountRequest, waiter: Waiter): boolean {
    return this.#ask(request, counting, waiter);
  }

  acquire(request: AcquireRequest): void | Promise<void> {
    return promised((waiter) => this.#ask(request, acquiring, waiter));
  }

  acquireFor(request: AcquireRequest, waiter: Waiter): boolean {
    return this.#ask(request, acquiring, waiter);
  }

  /**
   * Like `acquire`, but a local store holds nothing: it checks and reports, and allows reservations. A commit always
   * gets the error, so that its caller can repeat it.
   */
  settle(request: ReservationRequest): void | Promise<void> {
    if (!("settle" in this.#store)) return settleFrom(this.#store, request);
    return promised((waiter) => this.#ask(request, settling, waiter));
  }

  settleFor(request: ReservationRequest, waiter: Waiter): boolean {
    if (!("settle" in this.#store)) return settleFor(this.#store, request, waiter);
    return this.#ask(request, settling, waiter);
  }

  /** See `countFor` of a store. */
  #ask<Request extends AnyRequest>(request: Request, call: Call<Request>, waiter: Waiter): boolean {
    if (request.deadline !== 0 && request.deadline <= request.now)
      return this.#pass(new StoreError("DEADLINE_EXCEEDED", "the caller's deadline passed before the count"));
    const admission = this.#breaker.admit();
    if (admission === Admission.REFUSED) return this.#answer(request, call, this.#openError, waiter);
    if (this.#inFlight >= this.#maxInFlight) {
      this.#breaker.inconclusive(admission);
      return this.#answer(request, call, this.#fullError, waiter);
    }
    const wait = this.#waits.pop() ?? new Wait(this);
    wait.begun = this.#clock();
    wait.request = request;
    wait.call = call as Call<AnyRequest>;
    wait.admission = admission;
    wait.waiter = waiter;
    try {
      if (!call.ask(this.#store, request, wait)) {
        this.#inFlight += 1;
        return false;
      }
    } catch (error) {
      this.#release(wait);
      return this.#failed(request, call, admission, error, waiter);
    }
    this.#release(wait);
    this.#succeeded(admission, wait.begun);
    return true;
  }

  /** The store has answered later. */
  answered(wait: Wait): void {
    const { waiter, admission, begun } = wait;
    this.#inFlight -= 1;
    this.#release(wait);
    this.#succeeded(admission, begun);
    waiter.answered();
  }

  /** The store has failed later. */
  failed(wait: Wait, cause: unknown): void {
    const { waiter, request, call, admission } = wait;
    this.#inFlight -= 1;
    this.#release(wait);
    let isAnswered: boolean;
    try {
      isAnswered = this.#failed(request, call, admission, cause, waiter);
    } catch (error) {
      waiter.failed(error);
      return;
    }
    if (isAnswered) waiter.answered();
  }

  #release(wait: Wait): void {
    wait.request = noRequest;
    wait.waiter = noWaiter;
    if (this.#waits.length < MAX_WAITS) this.#waits.push(wait);
  }

  async close(): Promise<void> {
    await Promise.all([this.#store.close(), this.#local?.close()]);
  }

  #succeeded(admission: Admission, begun: number): void {
    if (!this.#breaker.succeeded(admission, begun)) return;
    const seconds = Math.max(0, (this.#clock() - this.#breaker.openedAt) / 1000).toFixed(1);
    this.#onTransition(false, `the ${this.kind} store is back after ${seconds} s`);
  }

  #failed<Request extends AnyRequest>(
    request: Request,
    call: Call<Request>,
    admission: Admission,
    cause: unknown,
    waiter: Waiter,
  ): boolean {
    const error = asStoreError(cause, this.kind);
    if (error.code === "KEY_UNUSABLE") {
      this.#breaker.inconclusive(admission);
      return this.#pass(error);
    }
    if (error.code === "STORE_FULL") {
      this.#breaker.inconclusive(admission);
      return this.#answer(request, call, error, waiter);
    }
    const late = error.code === "DEADLINE_EXCEEDED";
    if (late && request.deadline - request.now < this.#patience) this.#breaker.inconclusive(admission);
    else if (late ? this.#breaker.unanswered(admission) : this.#breaker.failed(admission))
      this.#degrade(error);
    return late ? this.#pass(error) : this.#answer(request, call, error, waiter);
  }

  #degrade(error: StoreError): void {
    this.#openError = new StoreError(
      "STORE_UNAVAILABLE",
      `the circuit breaker of the ${this.kind} store is open (${error.message})`,
      { cause: error },
    );
    this.#onTransition(
      true,
      `the ${this.kind} store fails (${error.message}): ${modeTexts[this.#mode]} until it is back`,
    );
  }

  /** Fails the call in every mode. */
  #pass(error: StoreError): never {
    this.#onFailure(error, false);
    throw error;
  }

  #answer<Request extends AnyRequest>(
    request: Request,
    call: Call<Request>,
    error: StoreError,
    waiter: Waiter,
  ): boolean {
    if (this.#mode === "error" || call.mustPass?.(request, this.#mode) === true) return this.#pass(error);
    this.#onFailure(error, true);
    if (this.#mode === "local" && call.isAllowedLocally?.(request) !== true)
      return call.ask(this.#local!, request, waiter);
    call.answer(request, this.#mode === "deny" ? Outcome.DENIED : Outcome.ALLOWED);
    return true;
  }
}

/** The policy keeps so many objects for further calls. */
const MAX_WAITS = 1024;

/** A call that waits for the store. */
class Wait implements Waiter {
  readonly #policy: FailurePolicy;
  request: AnyRequest = noRequest;
  call: Call<AnyRequest> = counting as Call<AnyRequest>;
  waiter: Waiter = noWaiter;
  admission: Admission = Admission.NORMAL;
  /** Start of the call, on the breaker's clock. */
  begun = 0;

  constructor(policy: FailurePolicy) {
    this.#policy = policy;
  }

  answered(): void {
    this.#policy.answered(this);
  }

  failed(error: unknown): void {
    this.#policy.failed(this, error);
  }
}

type AnyRequest = Pick<CountRequest, "now" | "deadline">;

const noRequest: AnyRequest = { now: 0, deadline: 0 };
const noWaiter: Waiter = { answered() {}, failed() {} };

/** One of the methods of a store. */
interface Call<Request> {
  /** See `countFor` of a store. */
  ask(store: CounterStore, request: Request, waiter: Waiter): boolean;
  answer(request: Request, outcome: Outcome): void;
  /** Whether the caller gets the error although the mode answers others. */
  mustPass?(request: Request, mode: FailureMode): boolean;
  /** Whether mode `local` allows it without a local count. */
  isAllowedLocally?(request: Request): boolean;
}

const counting: Call<CountRequest> = {
  ask: countFor,
  answer({ counts }, outcome) {
    for (const count of counts) {
      count.outcome = outcome;
      count.after = 0;
    }
  },
};

const acquiring: Call<AcquireRequest> = {
  ask: acquireFor,
  answer({ groups }, outcome) {
    for (const group of groups) {
      group.outcome = outcome;
      group.accepted = outcome === Outcome.ALLOWED;
    }
  },
};

const settling: Call<ReservationRequest> = {
  ask: settleFor,
  answer(request, outcome) {
    acquiring.answer(request as unknown as AcquireRequest, outcome);
    request.verdict = outcome === Outcome.ALLOWED ? Verdict.OK : Verdict.REFUSED;
  },
  // A refused report would be lost without a word.
  mustPass: ({ step }, mode) => step >= Step.COMMIT || (step === Step.REPORT && mode === "deny"),
  isAllowedLocally: ({ step }) => step === Step.RESERVE,
};

/** A local store reads the limits of a check or a report in the same way. */
function readsPlacesToSettle(store: CounterStore | undefined): boolean {
  return store === undefined || (store as Partial<ReservationStore>).readsPlacesToSettle === true;
}

function asStoreError(error: unknown, kind: string): StoreError {
  if (error instanceof StoreError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new StoreError("STORE_UNAVAILABLE", `unexpected error of the ${kind} store: ${message}`, {
    cause: error,
  });
}
