import type { Change, NumberedChange, Store } from "./store.ts";

/** Longest sleep of a listener, in milliseconds. Another process may have written meanwhile. */
const LONGEST_SLEEP = 1_000;
/** A listener that nobody wakes looks more often. */
const SHORT_SLEEP = 200;
const BATCH = 100;

/**
 * The changes of the board as they happen. The store keeps them, so a slow listener costs no memory, and one that comes
 * back misses none. Listeners of this process are woken at once.
 */
export class Changes {
  readonly #store: Store;
  readonly #wakes: boolean;
  readonly #sleepers = new Set<() => void>();

  /** @param wakes whether a request may wake another one */
  constructor(store: Store, wakes: boolean) {
    this.#store = store;
    this.#wakes = wakes;
  }

  add(change: Change): void {
    this.#store.addChange(change);
    for (const wake of this.#sleepers) wake();
  }

  /** The changes after the one with this id, until the signal aborts. */
  async *after(id: number, signal: AbortSignal): AsyncGenerator<NumberedChange> {
    let seen = id;
    while (!signal.aborted) {
      const batch = this.#store.changesAfter(seen, BATCH);
      yield* batch;
      seen = batch.at(-1)?.id ?? seen;
      if (batch.length === 0) await this.#sleep(signal);
    }
  }

  #sleep(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#sleepers.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      const timer = setTimeout(wake, this.#wakes ? LONGEST_SLEEP : SHORT_SLEEP);
      signal.addEventListener("abort", wake);
      if (this.#wakes) this.#sleepers.add(wake);
    });
  }
}
