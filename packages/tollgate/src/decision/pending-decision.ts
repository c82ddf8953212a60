import type { Waiter } from "../counters/store.ts";
import type { RateLimitRequest, RateLimitResponse } from "../protocol/messages.ts";
import type { RequestPlaces } from "../protocol/scan-request.ts";
import type { PreparedPart } from "./prepared.ts";

/** Waits for a decision whose store answers later. It gets one of both, once. */
export interface DecisionWaiter {
  /** Reads the response at once: the next decision reuses it. If it throws, `failed` gets the error. */
  decided(response: RateLimitResponse): void;
  failed(error: unknown): void;
}

/** Makes the response of a decision from the results of its store. */
interface Resumer<Objects> {
  resume(pending: PendingDecision<Objects>): RateLimitResponse;
}

const noParts: readonly PreparedPart[] = [];

/**
 * A decision in progress, which its store may answer later. It is reused, so the caller names its waiter at once, in the
 * turn of the event loop that began the decision.
 * @typeParam Objects the objects of the decision
 */
export class PendingDecision<Objects = unknown> implements Waiter {
  readonly scratch: Objects;
  request: RateLimitRequest | undefined;
  /** Undefined if the request did not come as a message, or another message may have overwritten it. */
  places: RequestPlaces | undefined;
  parts = noParts;
  /** Milliseconds since the epoch. */
  now = 0;
  /** Whether the response is read later than by a {@link DecisionWaiter}. */
  isPromised = false;
  readonly #decider: Resumer<Objects>;
  #waiter: DecisionWaiter | undefined;

  constructor(scratch: Objects, decider: Resumer<Objects>) {
    this.scratch = scratch;
    this.#decider = decider;
  }

  begin(
    request: RateLimitRequest | undefined,
    places: RequestPlaces | undefined,
    parts: readonly PreparedPart[],
    now: number,
  ): void {
    this.request = request;
    this.places = places;
    this.parts = parts;
    this.now = now;
    this.isPromised = false;
  }

  /** It must not retain its request. */
  end(): void {
    this.request = undefined;
    this.parts = noParts;
  }

  tell(waiter: DecisionWaiter): void {
    this.#waiter = waiter;
  }

  /** The response is valid until the next turn of the event loop. */
  promise(): Promise<RateLimitResponse> {
    this.isPromised = true;
    return new Promise((decided, failed) => this.tell({ decided, failed }));
  }

  answered(): void {
    const waiter = this.#waiter!;
    try {
      waiter.decided(this.#decider.resume(this));
    } catch (error) {
      waiter.failed(error);
    }
  }

  failed(error: unknown): void {
    this.#waiter!.failed(error);
  }
}
