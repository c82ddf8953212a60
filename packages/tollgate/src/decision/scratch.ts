import {
  type Count,
  type CountRequest,
  HoldBack,
  Outcome,
  Refuses,
  type StemPlace,
} from "../counters/store.ts";
import {
  Code,
  type CurrentLimit,
  type DescriptorStatus,
  type HeaderValue,
  type RateLimitResponse,
} from "../protocol/messages.ts";
import type { RequestPlaces } from "../protocol/scan-request.ts";
import { quotaPasses, refusalOf } from "./overall.ts";
import type { PendingDecision } from "./pending-decision.ts";
import { type Mutable, newPart, type PreparedPart } from "./prepared.ts";
import { tally } from "./tally.ts";

/** `limit_remaining` of an `unlimited` rule: the greatest uint32. */
export const UNLIMITED_REMAINING = 0xffff_ffff;

const noHeaders: readonly HeaderValue[] = [];

export interface ScratchOptions {
  /** `QUOTA_MODE` */
  readonly quotaMode: boolean;
  /** `STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT` */
  readonly stopIncrementing: boolean;
}

/** One count with the memory for its place. */
interface Slot extends Mutable<Count> {
  readonly memory: Mutable<StemPlace>;
}

/**
 * The objects of one decision. Only their numbers change, so the next decision of as many descriptors reuses them.
 * @typeParam More further objects, which live as long
 */
export class Scratch<More = unknown> {
  more: More | undefined;
  /** Goes on with the decision when its store answers later. */
  pending: PendingDecision<Scratch<More>> | undefined;
  /** Memory for the descriptors of a message. */
  readonly parts: readonly Mutable<PreparedPart>[];
  /** Memory for their stems. */
  keys: Buffer = Buffer.allocUnsafeSlow(256);
  /** The same memory. */
  words: Int32Array = new Int32Array(this.keys.buffer);
  /** A copy of the message, for observers of a decision that the store answers later. */
  message: Buffer = noMessage;
  messageLength = 0;
  /** The start of the decision, for observers: monotonic milliseconds. */
  began = 0;
  /** Number of decisions that this one represents in the top keys. */
  weight = 0;
  readonly #slots: readonly Slot[];
  /** One for each part that the store counts, in order. */
  readonly counts: Slot[] = [];
  readonly request: Mutable<CountRequest>;
  /** One for each part. */
  readonly statuses: readonly Mutable<DescriptorStatus>[];
  readonly response: Mutable<RateLimitResponse>;

  constructor(descriptors: number) {
    const each = { length: descriptors };
    this.parts = Array.from(each, newPart);
    this.#slots = Array.from(each, newSlot);
    this.statuses = Array.from(each, () => newStatus(undefined, 0));
    this.request = { counts: this.counts, holdBack: HoldBack.NEVER, now: 0, deadline: 0 };
    this.response = {
      overallCode: Code.OK,
      statuses: this.statuses,
      responseHeadersToAdd: noHeaders,
      dynamicMetadata: undefined,
    };
  }

  /** Returns memory for `size` more bytes behind the first `used` ones, which it keeps. */
  room(used: number, size: number): Buffer {
    if (used + size > this.keys.length) {
      const grown = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(used + size)));
      this.keys.copy(grown, 0, 0, used);
      this.keys = grown;
      this.words = new Int32Array(grown.buffer);
    }
    return this.keys;
  }

  /** See `Counters`. */
  countAfter(index: number): number | undefined {
    const { outcome, after } = this.counts[index]!;
    return outcome === Outcome.COUNTED || outcome === Outcome.HELD ? after : undefined;
  }

  /** Copies the message, whose memory the next call may overwrite. */
  keepMessage({ buffer, start, end }: RequestPlaces): void {
    const length = end - start;
    if (length > this.message.length) this.message = Buffer.allocUnsafe(2 ** Math.ceil(Math.log2(length)));
    this.message.set(buffer.subarray(start, end));
    this.messageLength = length;
  }

  /**
   * Fills in the counts for the store, and adds to the statistics that need no store.
   * @param readsPlaces see `CounterStore.readsPlaces`
   */
  arrange(
    parts: readonly PreparedPart[],
    options: ScratchOptions,
    nowSeconds: number,
    readsPlaces: boolean,
  ): void {
    const { quotaMode } = options;
    let passes: boolean | undefined;
    let mayRefuse = false;
    let counted = 0;
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index]!;
      const { resolution, hits, isRefund } = part;
      const { rule, statistics, domainNotFound } = resolution;
      const status = this.statuses[index]!;
      if (rule === undefined || statistics === undefined) {
        if (domainNotFound !== undefined) domainNotFound.value++;
        pass(status, 0);
        continue;
      }
      if (isRefund) statistics.totalNegativeHits -= hits;
      else statistics.totalHits += hits;
      if (rule.unlimited) {
        if (!isRefund) statistics.withinLimit += hits;
        pass(status, UNLIMITED_REMAINING);
        continue;
      }
      status.currentLimit = resolution.currentLimit;
      let refuses = refusalOf(part, quotaMode);
      if (refuses === Refuses.TOGETHER) {
        passes ??= quotaPasses(parts, quotaMode);
        if (passes) refuses = Refuses.NEVER;
      }
      if (refuses !== Refuses.NEVER) mayRefuse = true;
      const slot = this.#slots[counted]!;
      this.counts[counted++] = slot;
      this.#place(slot, part, readsPlaces);
      slot.limit = rule.requestsPerUnit;
      slot.refuses = refuses;
      slot.windowSize = resolution.windowSize;
      slot.windowStart = nowSeconds - (nowSeconds % slot.windowSize);
      slot.hits = hits;
      slot.outcome = Outcome.COUNTED;
      slot.after = 0;
    }
    // V8 calls its runtime to set a length.
    if (this.counts.length !== counted) this.counts.length = counted;
    this.request.holdBack = options.stopIncrementing && mayRefuse ? HoldBack.WHEN_REFUSED : HoldBack.NEVER;
  }

  #place(slot: Slot, { resolution, stemStart, stemEnd }: PreparedPart, readsPlaces: boolean): void {
    const isInPlace = stemEnd > stemStart;
    slot.stem =
      isInPlace && !readsPlaces ? this.keys.toString("latin1", stemStart, stemEnd) : resolution.stem;
    slot.place = undefined;
    if (!isInPlace || !readsPlaces) return;
    const { memory } = slot;
    memory.bytes = this.keys;
    memory.words = this.words;
    memory.start = stemStart;
    memory.end = stemEnd;
    slot.place = memory;
  }

  /** Turns the results of the store into statuses and statistics. */
  tally(parts: readonly PreparedPart[], nowSeconds: number): void {
    let counted = 0;
    for (let index = 0; index < parts.length; index++) {
      const { resolution } = parts[index]!;
      const { rule, statistics } = resolution;
      if (rule === undefined || statistics === undefined || rule.unlimited) continue;
      tally(
        this.counts[counted++]!,
        statistics,
        resolution,
        rule.shadowMode,
        nowSeconds,
        this.statuses[index]!,
      );
    }
  }
}

/** The status of a part that the store does not count. */
function pass(status: Mutable<DescriptorStatus>, remaining: number): void {
  status.code = Code.OK;
  status.currentLimit = undefined;
  status.limitRemaining = remaining;
  status.durationUntilReset = 0;
}

const noBytes = new Uint8Array(0);
const noWords = new Int32Array(0);

/** The place of the next stem: stems begin at multiples of 4 bytes. */
export function afterStem(end: number): number {
  return (end + 3) & ~3;
}

export function newPlace(): Mutable<StemPlace> {
  return { bytes: noBytes, words: noWords, start: 0, end: 0 };
}

const noMessage = Buffer.alloc(0);

function newSlot(): Slot {
  return {
    stem: "",
    place: undefined,
    windowStart: 0,
    windowSize: 0,
    hits: 0,
    limit: 0,
    refuses: Refuses.NEVER,
    outcome: Outcome.COUNTED,
    after: 0,
    memory: newPlace(),
  };
}

/** A status for `tally` to fill in. */
export function newStatus(
  currentLimit: CurrentLimit | undefined,
  limitRemaining: number,
): Mutable<DescriptorStatus> {
  return { code: Code.OK, currentLimit, limitRemaining, durationUntilReset: 0 };
}

/** The pool keeps scratch objects for so many descriptors altogether: 4 MiB. */
const MAX_DESCRIPTORS = 8192;
/** Larger memories for stems and messages are not kept. */
const MAX_KEY_BYTES = 1024;
const MAX_MESSAGE_BYTES = 4096;

/**
 * Scratch objects for further decisions, by their number of descriptors.
 * @typeParam More see {@link Scratch}
 */
export class ScratchPool<More = unknown> {
  readonly #free: Scratch<More>[][] = [];
  #descriptors = 0;
  /** Those of decisions that a store has just answered. Their callers still write the responses. */
  #ending: Scratch<More>[] = [];

  /** Takes the objects for so many descriptors out of the pool. */
  take(descriptors: number): Scratch<More> {
    const free = this.#free[descriptors]?.pop();
    if (free === undefined) return new Scratch<More>(descriptors);
    this.#descriptors -= descriptors;
    return free;
  }

  /** Returns them. The next decision overwrites them. */
  give(scratch: Scratch<More>): void {
    const descriptors = scratch.parts.length;
    if (this.#descriptors + descriptors > MAX_DESCRIPTORS || scratch.keys.length > MAX_KEY_BYTES) return;
    if (scratch.message.length > MAX_MESSAGE_BYTES) return;
    this.#descriptors += descriptors;
    this.#free[descriptors] ??= [];
    this.#free[descriptors].push(scratch);
  }

  /** Returns them in the next turn of the event loop. */
  giveLater(scratch: Scratch<More>): void {
    if (this.#ending.push(scratch) > 1) return;
    setImmediate(() => {
      const ended = this.#ending;
      this.#ending = [];
      for (const one of ended) this.give(one);
    });
  }
}
