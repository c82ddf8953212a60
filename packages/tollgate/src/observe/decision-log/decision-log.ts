import type { LineWriter } from "../descriptor-writer.ts";
import type { Logger } from "../log.ts";
import type { DecisionFeed, SampledDecision } from "./decision-feed.ts";
import type { LineBatch } from "./outbox.ts";

export interface DecisionLogOptions {
  /** `DECISION_LOG`. Undefined: decisions go to subscribers only. */
  readonly writer: LineWriter | undefined;
  /** Told when decisions must be recorded, and when not any more. */
  readonly onDemand: (needed: boolean) => void;
  readonly log: Logger;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

type Listener = (decision: SampledDecision) => void;

/** Decisions that subscribers get in a second. Further ones are skipped: they are for eyes. */
const MOST_PER_SECOND = 1000;
const SECOND = 1000;

/** Takes the recorded decisions of all threads. */
export class DecisionLog implements DecisionFeed {
  readonly #options: DecisionLogOptions;
  readonly #now: () => number;
  readonly #listeners = new Set<{ readonly listener: Listener }>();
  #second = Number.NEGATIVE_INFINITY;
  #left = 0;

  constructor(options: DecisionLogOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Whether threads must record decisions. */
  get needed(): boolean {
    return this.#options.writer !== undefined || this.#listeners.size > 0;
  }

  subscribe(listener: Listener): () => void {
    // One listener may subscribe twice.
    const subscription = { listener };
    this.#change(() => this.#listeners.add(subscription));
    return () => this.#change(() => this.#listeners.delete(subscription));
  }

  receive({ lines }: LineBatch): void {
    this.#options.writer?.write(lines);
    if (this.#listeners.size === 0) return;
    for (let at = 0; at < lines.length; ) {
      if (!this.#takeOne()) return;
      const end = lines.indexOf("\n", at);
      this.#publish(JSON.parse(lines.slice(at, end)) as SampledDecision);
      at = end + 1;
    }
  }

  #takeOne(): boolean {
    const now = this.#now();
    if (now >= this.#second + SECOND) {
      this.#second = now;
      this.#left = MOST_PER_SECOND;
    }
    return this.#left-- > 0;
  }

  #publish(decision: SampledDecision): void {
    for (const { listener } of this.#listeners)
      try {
        listener(decision);
      } catch (error) {
        this.#options.log.error(`a subscriber of decisions failed: ${String(error)}`);
      }
  }

  #change(change: () => void): void {
    const before = this.needed;
    change();
    if (this.needed !== before) this.#options.onDemand(this.needed);
  }
}
