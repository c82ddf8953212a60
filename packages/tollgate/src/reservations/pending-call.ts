import type { Waiter } from "../counters/store.ts";

/** Waits for a call whose store answers later. It gets one of both, once. */
export interface CallWaiter<Answer> {
  /** Reads the answer at once: the next call reuses it. */
  answered(answer: Answer): void;
  failed(error: unknown): void;
}

/**
 * A call whose store answers later. It is reused, so its caller names its waiter at once, in the turn of the event loop
 * that began the call.
 */
export abstract class PendingCall<Answer> implements Waiter {
  #waiter: CallWaiter<Answer> | undefined;
  #isPromised = false;

  /**
   * Makes the answer from the results of the store, and lets later calls reuse the objects of this one.
   * @param isPromised whether the answer is read later than by a {@link CallWaiter}
   */
  protected abstract conclude(isPromised: boolean): Answer;

  tell(waiter: CallWaiter<Answer>): void {
    this.#waiter = waiter;
  }

  /** The answer is valid until the next turn of the event loop. */
  promise(): Promise<Answer> {
    this.#isPromised = true;
    return new Promise((answered, failed) => this.tell({ answered, failed }));
  }

  answered(): void {
    const waiter = this.#waiter!;
    const isPromised = this.#isPromised;
    this.#isPromised = false;
    let answer: Answer;
    try {
      answer = this.conclude(isPromised);
    } catch (error) {
      waiter.failed(error);
      return;
    }
    waiter.answered(answer);
  }

  failed(error: unknown): void {
    this.#waiter!.failed(error);
  }
}

/** The answer of a call that waits, as a promise. */
export function promiseOf<Answer>(answer: Answer | PendingCall<Answer>): Answer | Promise<Answer> {
  return answer instanceof PendingCall ? answer.promise() : answer;
}
