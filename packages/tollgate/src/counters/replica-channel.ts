/**
 * Tells the other replicas of a shared store which counters were lowered, and drops the over-limit entries of this
 * process that they name. Messages hold slots of `invalidations.ts`, never a key.
 *
 * While no message can arrive, entries of this process live for a bounded time: all entries are invalidated again and
 * again.
 */
import { randomBytes } from "node:crypto";
import { type BackoffOptions, backoffDelay } from "../backoff.ts";
import { Throttle, withCount } from "../observe/throttle.ts";
import { type Invalidations, isSlot, slotOf } from "./invalidations.ts";

/** Opens the channel of messages to the other replicas. Undefined: no message reaches them. */
export type OpenChannel = (
  events: { message(text: string): void; live(): void; lost(reason: string): void },
  beat: number,
) => { publish(text: string): Promise<void>; close(): void };

export interface ReplicaChannelOptions {
  /** Undefined without over-limit caches in this process. */
  readonly invalidations: Invalidations | undefined;
  readonly open: OpenChannel | undefined;
  /** The reason why there is no channel, for the log. */
  readonly why?: string;
  /** `LOCAL_CACHE_REVALIDATE`, in milliseconds. */
  readonly revalidate: number;
  readonly log: { warn(line: string): void; info(line: string): void };
  /** Another replica has changed the overrides, or may have while no message could arrive. */
  readonly onOverrides?: () => void;
}

const REPEATED: BackoffOptions = { initialInterval: 25, maxInterval: 1000, factor: 1, jitter: 0.5 };

/** The first word of a message. */
const FORMAT = "1";
const ALL = "all";
const OVERRIDES = "overrides";
/** Slots of one message. Above it the message names all of them. */
const MOST_SLOTS = 512;
/** The share of `revalidate` between two invalidations of all entries: the rest is for the timer's delay. */
const MARGIN = 0.75;
/** A heartbeat that is not answered until the next one ends the subscription: together at most half of `revalidate`. */
const BEATS = 4;
const LONGEST_BEAT = 250;

export class ReplicaChannel {
  readonly #options: ReplicaChannelOptions;
  readonly #channel: ReturnType<OpenChannel> | undefined;
  /** Begins the own messages, which come back. */
  readonly #origin = randomBytes(9).toString("base64url");
  readonly #throttle = new Throttle();
  #slots = new Set<number>();
  #overrides = false;
  /** Wait for the next attempt to send. */
  #waiting: (() => void)[] = [];
  #sending = false;
  #failures = 0;
  #retry: NodeJS.Timeout | undefined;
  #revalidating: NodeJS.Timeout | undefined;
  #live = false;
  #warned = false;
  #closed = false;

  constructor(options: ReplicaChannelOptions) {
    this.#options = options;
    const { revalidate, open, why, log } = options;
    this.#bound();
    if (open === undefined) {
      if (options.invalidations !== undefined && why !== undefined)
        log.warn(`entries of the over-limit cache live at most ${revalidate} ms: ${why}`);
      return;
    }
    const beat = Math.max(1, Math.min(LONGEST_BEAT, Math.floor(revalidate / BEATS)));
    this.#channel = open(
      {
        message: (text) => this.#receive(text),
        live: () => this.#subscribed(),
        lost: (reason) => this.#lost(reason),
      },
      beat,
    );
  }

  /** Whether messages of other replicas arrive. */
  get live(): boolean {
    return this.#live;
  }

  /** A counter of this stem was lowered to its limit or below. The entries of this process are already dropped. */
  lowered(stem: string): void {
    this.loweredSlots([slotOf(stem)]);
  }

  loweredSlots(slots: Iterable<number>): void {
    if (this.#channel === undefined) return;
    for (const slot of slots) this.#slots.add(slot);
    this.#sendSoon();
  }

  /** This process has changed the overrides in the store. */
  overridesChanged(): void {
    this.#overrides = true;
    this.#sendSoon();
  }

  /** Resolves when the changes so far have been sent, or an attempt has failed. They are then sent again. */
  told(): Promise<void> {
    const isPending = this.#slots.size > 0 || this.#overrides;
    if (!isPending || this.#closed) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  close(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
    this.#closed = true;
    clearInterval(this.#revalidating);
    clearTimeout(this.#retry);
    this.#channel?.close();
  }

  /** One message for all changes of a turn. */
  #sendSoon(): void {
    if (this.#channel === undefined || this.#sending || this.#closed) return;
    this.#sending = true;
    setImmediate(() => void this.#send());
  }

  async #send(): Promise<void> {
    const slots = this.#slots;
    const overrides = this.#overrides;
    this.#slots = new Set();
    this.#overrides = false;
    const waiting = this.#waiting.splice(0);
    const named = slots.size > MOST_SLOTS ? [ALL] : slots;
    try {
      await this.#channel!.publish(
        [FORMAT, this.#origin, ...(overrides ? [OVERRIDES] : []), ...named].join(" "),
      );
      this.#failures = 0;
    } catch (error) {
      // The change is in the store, so the others must learn of it: it is sent again.
      for (const slot of slots) this.#slots.add(slot);
      this.#overrides ||= overrides;
      this.#failures += 1;
      this.#warn(`cannot tell the other replicas of lowered counters (${(error as Error).message})`);
    }
    for (const resolve of waiting) resolve();
    this.#sending = false;
    if (this.#slots.size === 0 && !this.#overrides) return;
    if (this.#failures === 0) this.#sendSoon();
    else if (!this.#closed) {
      this.#retry = setTimeout(() => this.#sendSoon(), backoffDelay(this.#failures, REPEATED));
      this.#retry.unref();
    }
  }

  #receive(text: string): void {
    const [format, origin, ...words] = text.split(" ");
    if (origin === this.#origin) return;
    const { invalidations, onOverrides } = this.#options;
    // A newer version may send more. To drop all entries is always correct.
    if (format !== FORMAT || words.length > MOST_SLOTS + 1) {
      invalidations?.invalidateAll();
      onOverrides?.();
      return;
    }
    for (const word of words) {
      if (word === OVERRIDES) onOverrides?.();
      else if (word === ALL || !isSlot(Number(word))) invalidations?.invalidateAll();
      else invalidations?.invalidateSlot(Number(word));
    }
  }

  #subscribed(): void {
    const { invalidations, log, onOverrides } = this.#options;
    this.#live = true;
    clearInterval(this.#revalidating);
    // Messages may have been lost until now.
    invalidations?.invalidateAll();
    onOverrides?.();
    if (this.#warned) log.info("messages of other replicas arrive again");
    this.#warned = false;
  }

  #lost(reason: string): void {
    if (this.#live) this.#bound();
    if (!this.#warned && this.#options.invalidations !== undefined)
      this.#warn(
        `no messages of other replicas arrive (${reason}): entries of the over-limit cache live at most ${this.#options.revalidate} ms`,
      );
    this.#warned = true;
  }

  /** Bounds the life of all entries while no message arrives. */
  #bound(): void {
    this.#live = false;
    const { invalidations, revalidate } = this.#options;
    if (invalidations === undefined || this.#closed) return;
    invalidations.invalidateAll();
    clearInterval(this.#revalidating);
    this.#revalidating = setInterval(() => invalidations.invalidateAll(), Math.max(1, revalidate * MARGIN));
    this.#revalidating.unref();
  }

  #warn(line: string): void {
    const count = this.#throttle.hit();
    if (count !== undefined) this.#options.log.warn(withCount(line, count));
  }
}
