import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { scaled } from "../../../tools/time-scale.ts";
import type { AlgorithmName } from "../src/counters/algorithms/algorithm.ts";
import { algorithms } from "../src/counters/algorithms/algorithms.ts";
import {
  type AcquireLimit,
  type Count,
  type CounterStore,
  HoldBack,
  Outcome,
  Refuses,
  StoreError,
} from "../src/counters/store.ts";

export interface LoadOptions {
  /** One store for each process of a fleet. Each call uses one of them. */
  readonly stores: readonly CounterStore[];
  readonly keys: number;
  readonly limit: number;
  readonly callers: number;
  /** Deadline of each call, in milliseconds. */
  readonly deadline: number;
  /** Milliseconds between two calls of a caller. */
  readonly pause: number;
  /** A part of the keys, so that each run has its own keys. */
  readonly name: string;
  /** The algorithms of the keys, in turn. Plain fixed windows are counts. Half of the others are lists of two limits. */
  readonly algorithms: readonly AlgorithmName[];
}

/** Results of the calls of one key. */
export interface KeyTally {
  admitted: number;
  refused: number;
  /** Calls without an answer. The store may have counted them. */
  failed: number;
}

/** Tolerance for answers after the deadline: timers and a busy machine need some slack. */
const SLACK_MS = scaled(100);

const EXHAUST_LIMIT_MS = scaled(20_000);
const HEARTBEAT_MS = 10;

/** A fixed window, so that no run crosses the end of a window. */
const windowStart = Math.floor(Date.now() / 86_400_000) * 86_400;
/** A sliding window and a bucket change too little in a run to accept one more hit. */
const TEN_YEARS = 315_360_000;

/** Callers in a loop, with exact records of their results. */
export class Load {
  readonly tally: readonly KeyTally[];
  slowest = 0;
  /** Durations of calls that ended after their deadline and the slack. */
  readonly #late: number[] = [];
  /** The longest pause of this process. Calls may be late by that time. */
  #stall = 0;
  #heartbeat: NodeJS.Timeout | undefined;
  calls = 0;
  readonly #options: LoadOptions;
  /** Failed calls that reached the store: it may have counted them. */
  unknown = 0;
  readonly #errors = new Map<string, number>();
  #on = true;
  #running: Promise<unknown> = Promise.resolve();
  #watched: Set<number> | undefined;
  #onAllAnswered: () => void = () => {};

  constructor(options: LoadOptions) {
    this.#options = options;
    this.tally = Array.from({ length: options.keys }, () => ({ admitted: 0, refused: 0, failed: 0 }));
  }

  start(): void {
    const { callers } = this.#options;
    let last = performance.now();
    this.#heartbeat = setInterval(() => {
      const now = performance.now();
      this.#stall = Math.max(this.#stall, now - last - HEARTBEAT_MS);
      last = now;
    }, HEARTBEAT_MS);
    this.#running = Promise.all(Array.from({ length: callers }, (_, i) => this.#caller(i)));
  }

  async stop(): Promise<void> {
    this.#on = false;
    await this.#running;
    clearInterval(this.#heartbeat);
  }

  /** The longest pause of this process, in milliseconds. */
  get stall(): number {
    return this.#stall;
  }

  /** Calls that ended after their deadline. */
  get late(): number {
    return this.#late.filter((took) => took > this.#options.deadline + SLACK_MS + this.#stall).length;
  }

  get failed(): number {
    return this.tally.reduce((sum, { failed }) => sum + failed, 0);
  }

  get admitted(): number {
    return this.tally.reduce((sum, { admitted }) => sum + admitted, 0);
  }

  /** Error codes with their numbers of calls. */
  get errors(): string {
    return [...this.#errors].map(([code, count]) => `${code} ${count}`).join(", ");
  }

  /** Resolves when each key has an answer to a call that began after this moment. */
  allAnswered(): Promise<void> {
    this.#watched = new Set(this.tally.keys());
    return new Promise((resolve) => {
      this.#onAllAnswered = resolve;
    });
  }

  /** Waits for a condition that depends on the load. */
  async until(done: () => boolean): Promise<void> {
    while (!done()) await sleep(5);
  }

  /** Uses up every key's limit: afterwards each call is refused, and the records are final. */
  async exhaust(): Promise<void> {
    const { callers } = this.#options;
    const latest = performance.now() + EXHAUST_LIMIT_MS;
    for (const [key, tally] of this.tally.entries()) {
      const before = tally.refused;
      while (tally.refused === before) {
        const { failed } = tally;
        await Promise.all(Array.from({ length: callers }, (_, i) => this.call(key, i)));
        if (tally.failed > failed) await sleep(5);
        if (performance.now() > latest) throw new Error(`key ${key} did not reach its limit`);
      }
    }
  }

  async call(key: number, caller: number): Promise<void> {
    const { stores, limit, deadline } = this.#options;
    const tally = this.tally[key]!;
    const watched = this.#watched;
    const begun = performance.now();
    const now = Date.now();
    this.calls++;
    try {
      const store = stores[caller % stores.length]!;
      if (await this.#admits(store, key, limit, { now, deadline: now + deadline })) tally.admitted++;
      else tally.refused++;
      if (watched?.delete(key) && watched.size === 0) this.#onAllAnswered();
    } catch (error) {
      tally.failed++;
      const code = error instanceof StoreError ? error.code : String(error);
      if (!String(error).includes("circuit breaker")) this.unknown++;
      this.#errors.set(code, (this.#errors.get(code) ?? 0) + 1);
    }
    const took = performance.now() - begun;
    this.slowest = Math.max(this.slowest, took);
    if (took > deadline + SLACK_MS) this.#late.push(took);
  }

  async #admits(
    store: CounterStore,
    key: number,
    limit: number,
    times: { readonly now: number; readonly deadline: number },
  ): Promise<boolean> {
    const { name, algorithms: names } = this.#options;
    const algorithm = names[key % names.length]!;
    const stem = `chaos|${name}=${key}|`;
    if (algorithm === "fixed_window") {
      const count: Count = {
        stem: `${stem}day:`,
        windowStart,
        windowSize: 86_400,
        hits: 1,
        limit,
        refuses: Refuses.ALWAYS,
        outcome: Outcome.COUNTED,
        after: 0,
      };
      await store.count({ counts: [count], holdBack: HoldBack.NEVER, ...times });
      return count.after <= limit;
    }
    const limits = [limitOf(`{${stem}}limit:`, algorithm, limit)];
    if (key % (2 * names.length) < names.length) limits.push(limitOf(`{${stem}}wide:`, algorithm, 2 * limit));
    const group = { limits, hits: 1, refuses: Refuses.ALWAYS, outcome: Outcome.COUNTED, accepted: false };
    await store.acquire!({ groups: [group], holdBack: HoldBack.NEVER, ...times });
    return group.accepted;
  }

  async #caller(number: number): Promise<void> {
    let turn = number;
    while (this.#on) {
      turn = (turn * 48271 + 11) % 2147483647;
      await this.call(turn % this.tally.length, number);
      await sleep(this.#options.pause);
    }
  }
}

function limitOf(stem: string, name: AlgorithmName, limit: number): AcquireLimit {
  const algorithm = algorithms[name];
  return {
    stem,
    algorithm,
    limit,
    burst: limit,
    windowStart: algorithm.perWindow ? windowStart : 0,
    windowSize: algorithm.perWindow ? 86_400 : TEN_YEARS,
    accepted: false,
    used: 0,
    remaining: 0,
    reset: 0,
  };
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Memory of the process after a garbage collection, in bytes. */
export function memory(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
