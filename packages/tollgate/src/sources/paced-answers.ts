import { Backoff } from "../backoff.ts";

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 30_000;

export interface PacedAnswersOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Aborts when the stream ends. Nothing is sent afterwards. */
  readonly signal: AbortSignal;
}

/**
 * Spaces the answers on one stream. Some servers send a set again as soon as they read its refusal. Without a pause
 * between refusals, both sides would repeat that at full speed. The time since the last answer counts as part of the
 * pause.
 */
export class PacedAnswers {
  readonly #options: PacedAnswersOptions;
  readonly #backoff = new Backoff(
    { initialInterval: FIRST_PAUSE_MS, maxInterval: LONGEST_PAUSE_MS, factor: 1, jitter: false },
    Math.random,
  );
  #notBefore = Number.NEGATIVE_INFINITY;
  /** The pending answer. */
  #waiting: (() => void) | undefined;
  #stop = new AbortController();

  constructor(options: PacedAnswersOptions) {
    this.#options = options;
  }

  /** Sends the first answer to a new set at once. Drops a pending answer, which belongs to an older set. */
  sendNow(send: () => void): void {
    this.#waiting = undefined;
    this.#stop.abort();
    this.#backoff.reset();
    this.#notBefore = Number.NEGATIVE_INFINITY;
    send();
  }

  /** Sends an answer after the pause since the last one. Replaces a pending answer. */
  send(send: () => void): void {
    const isWaiting = this.#waiting !== undefined;
    this.#waiting = send;
    if (isWaiting) return;
    const left = this.#notBefore - this.#options.now();
    if (left <= 0) this.#sendWaiting();
    else void this.#sendAfter(left);
  }

  async #sendAfter(milliseconds: number): Promise<void> {
    const { wait, signal } = this.#options;
    this.#stop = new AbortController();
    const { signal: stop } = this.#stop;
    await wait(milliseconds, AbortSignal.any([signal, stop]));
    if (!stop.aborted && !signal.aborted) this.#sendWaiting();
  }

  #sendWaiting(): void {
    const send = this.#waiting;
    this.#waiting = undefined;
    const now = this.#options.now();
    if (now - this.#notBefore > LONGEST_PAUSE_MS) this.#backoff.reset();
    this.#notBefore = now + this.#backoff.next();
    send?.();
  }
}
