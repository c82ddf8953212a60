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
import { Admission, CircuitBreaker, type CircuitBreakerOptions } from "./circuit-breaker.ts";
import { FailedCalls } from "./failed-calls.ts";
import {
  type AnyRequest,
  acquiring,
  counting,
  type FailureMode,
  type Method,
  settling,
} from "./failure-methods.ts";
import { type ReservationRequest, type ReservationStore, settleFor } from "./reservations.ts";
import {
  type AcquireRequest,
  type CounterStore,
  type CountRequest,
  promised,
  type StoreError,
  type Waiter,
} from "./store.ts";

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

export class FailurePolicy implements ReservationStore {
  readonly kind: string;
  readonly readsPlaces: boolean;
  readonly #store: CounterStore;
  readonly #local: CounterStore | undefined;
  readonly #maxInFlight: number;
  readonly #breaker: CircuitBreaker;
  readonly #clock: () => number;
  readonly #failedCalls: FailedCalls;
  readonly #onTransition: (degraded: boolean, message: string) => void;
  #inFlight = 0;

  /** @throws {TypeError} for `local` without a store to count in */
  constructor(store: CounterStore, options: FailurePolicyOptions = {}) {
    const { mode = "error", local, maxInFlight = 50_000, patience = 10 } = options;
    const { onFailure = () => {}, onTransition = () => {} } = options;
    this.kind = store.kind;
    this.#store = store;
    this.#local = local;
    if (mode === "local" && local === undefined)
      throw new TypeError("the failure mode `local` needs a store: pass one as the option `local`");
    this.readsPlaces = store.readsPlaces === true && (local?.readsPlaces ?? true);
    this.#maxInFlight = maxInFlight;
    const breaker = new CircuitBreaker(options.breaker);
    this.#breaker = breaker;
    this.#clock = options.breaker?.clock ?? (() => performance.now());
    this.#onTransition = onTransition;
    const { kind } = store;
    this.#failedCalls = new FailedCalls({
      kind,
      mode,
      local,
      maxInFlight,
      patience,
      breaker,
      onFailure,
      onTransition,
    });
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
    return promised((waiter) => this.settleFor(request, waiter));
  }

  settleFor(request: ReservationRequest, waiter: Waiter): boolean {
    if (!("settle" in this.#store)) return settleFor(this.#store, request, waiter);
    return this.#ask(request, settling, waiter);
  }

  /** See `countFor` of a store. */
  #ask<Request extends AnyRequest>(request: Request, method: Method<Request>, waiter: Waiter): boolean {
    if (request.deadline !== 0 && request.deadline <= request.now) return this.#failedCalls.late();
    const call = new Call(this, request, method as Method<AnyRequest>, waiter, this.#breaker.admit());
    if (call.admission === Admission.REFUSED) return this.#failedCalls.refused(call);
    if (this.#inFlight >= this.#maxInFlight) return this.#failedCalls.full(call);
    call.begun = this.#clock();
    try {
      if (!method.ask(this.#store, request, call)) {
        this.#inFlight += 1;
        return false;
      }
    } catch (error) {
      return this.#failedCalls.failed(call, error);
    }
    this.#succeeded(call);
    return true;
  }

  /** The store has answered later. */
  answered(call: Call): void {
    this.#inFlight -= 1;
    this.#succeeded(call);
    call.waiter.answered();
  }

  /** The store has failed later. */
  failed(call: Call, cause: unknown): void {
    this.#inFlight -= 1;
    let isAnswered: boolean;
    try {
      isAnswered = this.#failedCalls.failed(call, cause);
    } catch (error) {
      call.waiter.failed(error);
      return;
    }
    if (isAnswered) call.waiter.answered();
  }

  async close(): Promise<void> {
    await Promise.all([this.#store.close(), this.#local?.close()]);
  }

  #succeeded({ admission, begun }: Call): void {
    if (!this.#breaker.succeeded(admission, begun)) return;
    const seconds = Math.max(0, (this.#clock() - this.#breaker.openedAt) / 1000).toFixed(1);
    this.#onTransition(false, `the ${this.kind} store is back after ${seconds} s`);
  }
}

/** A call that may wait for the store. */
class Call implements Waiter {
  readonly #policy: FailurePolicy;
  readonly request: AnyRequest;
  readonly method: Method<AnyRequest>;
  readonly waiter: Waiter;
  readonly admission: Admission;
  /** Its start, on the breaker's clock. */
  begun = 0;

  constructor(
    policy: FailurePolicy,
    request: AnyRequest,
    method: Method<AnyRequest>,
    waiter: Waiter,
    admission: Admission,
  ) {
    this.#policy = policy;
    this.request = request;
    this.method = method;
    this.waiter = waiter;
    this.admission = admission;
  }

  answered(): void {
    this.#policy.answered(this);
  }

  failed(error: unknown): void {
    this.#policy.failed(this, error);
  }
}
