import type { Waiter } from "../counters/store.ts";
import type { RateLimitRequest, RateLimitResponse } from "../protocol/messages.ts";
import type { PreparedPart } from "./prepared.ts";

/** Waits for a decision whose store answers later. It gets one of both, once. */
export interface DecisionWaiter {
  /** Reads the response at once: the next decision reuses it. */
  decided(response: RateLimitResponse): void;
  failed(error: unknown): void;
}

export const noParts: readonly PreparedPart[] = [];

/**
 * A decision whose store answers later, and what it then needs. It is reused, so the caller names its waiter at once, in
 * the turn of the event loop that began the decision.
 */
export class PendingDecision implements Waiter {
  request: RateLimitRequest | undefined;
  parts: readonly PreparedPart[] = noParts;
  /** Whether a rule has `limits`. */
  hasLimits = false;
  /** Milliseconds since the epoch. */
  now = 0;
  /** Whether the response is read later than by a {@link DecisionWaiter}. */
  isPromised = false;
  readonly #conclude: () => RateLimitResponse;
  #waiter: DecisionWaiter | undefined;

  /** @param conclude makes the response from the results of the store */
  constructor(conclude: () => RateLimitResponse) {
    this.#conclude = conclude;
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
    let response: RateLimitResponse;
    try {
      response = this.#conclude();
    } catch (error) {
      waiter.failed(error);
      return;
    }
    waiter.decided(response);
  }

  failed(error: unknown): void {
    this.#waiter!.failed(error);
  }
}
