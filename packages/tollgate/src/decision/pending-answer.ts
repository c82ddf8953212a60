import type { Waiter } from "../counters/store.ts";

/** Waits for the answer of a call whose store answers later. It gets one of both, once. */
export interface AnswerWaiter<Answer> {
  /** Reads the answer at once: the next call reuses it. If it throws, `failed` gets the error. */
  answered(answer: Answer): void;
  failed(error: unknown): void;
}

/**
 * A call whose store answers later. It is reused, so its caller names its waiter at once, in the turn of the event loop
 * that began the call.
 */
export abstract class PendingAnswer<Answer> implements Waiter {
  #waiter: AnswerWaiter<Answer> | undefined;
  #isPromised = false;

  /**
   * Makes the answer from the results of the store, and lets later calls reuse the objects of this one. After a failure
   * the store may still read these objects, so no other call gets them.
   * @param isPromised whether the answer is read later than by an {@link AnswerWaiter}
   */
  protected abstract conclude(isPromised: boolean): Answer;

  tell(waiter: AnswerWaiter<Answer>): void {
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
    try {
      waiter.answered(this.conclude(isPromised));
    } catch (error) {
      waiter.failed(error);
    }
  }

  failed(error: unknown): void {
    this.#waiter!.failed(error);
  }
}

/** The answer of a call that may wait, as a promise if it does. */
export function promiseOf<Answer>(answer: Answer | PendingAnswer<Answer>): Answer | Promise<Answer> {
  return answer instanceof PendingAnswer ? answer.promise() : answer;
}
