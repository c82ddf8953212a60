/// <reference lib="esnext.sharedmemory" />
/**
 * A lock in shared memory that survives the end of its holder.
 *
 * The lock's word is 0 or its holder's *ticket*, a number that is unique to a thread. A table lists the live tickets.
 * If the holder of a lock has ended, another thread takes the lock over and repairs the shard. A worker can end at any
 * instruction (`worker.terminate()`, `process.exit()`, out of memory).
 */
import { StoreError } from "../store.ts";
import { isAlive } from "./tickets.ts";

/** A thread holds a lock for at most about 20 µs of its own time. This many pauses take about as long. */
const SPINS = 200;
/** Milliseconds to sleep between two attempts when the holder is probably not running. */
const WAIT_STEP = 0.05;
/** Milliseconds after which a waiting caller gets an error. */
const WAIT_LIMIT = 500;

export class Lock {
  readonly #ints: Int32Array;
  readonly #at: number;
  readonly #ticket: number;
  /** A holder that exceeded the wait limit. Later calls do not wait for it again: one read may bring 50 calls. */
  #suspect = 0;

  /** @param at Int32 position */
  constructor(ints: Int32Array, at: number, ticket: number) {
    this.#ints = ints;
    this.#at = at;
    this.#ticket = ticket;
  }

  /**
   * An uncontended acquire and release take 13 ns together.
   * @returns whether the previous holder has ended, so that the caller must repair the shard
   * @throws {StoreError} STORE_UNAVAILABLE when a live holder exceeds the wait limit
   */
  acquire(): boolean {
    if (Atomics.compareExchange(this.#ints, this.#at, 0, this.#ticket) === 0) return false;
    return this.#wait();
  }

  /** Takes the lock only if it is free. */
  tryAcquire(): boolean {
    return Atomics.compareExchange(this.#ints, this.#at, 0, this.#ticket) === 0;
  }

  /** Takes the lock only if this ticket holds it. The ticket's thread must have ended. */
  takeFrom(ticket: number): boolean {
    return Atomics.compareExchange(this.#ints, this.#at, ticket, this.#ticket) === ticket;
  }

  release(): void {
    this.#suspect = 0;
    Atomics.store(this.#ints, this.#at, 0);
  }

  #wait(): boolean {
    let until = 0;
    for (let tries = 0; ; tries++) {
      const holder = Atomics.compareExchange(this.#ints, this.#at, 0, this.#ticket);
      if (holder === 0) return false;
      if (!isAlive(this.#ints, holder) && this.takeFrom(holder)) return true;
      if (tries < SPINS) {
        Atomics.pause();
        continue;
      }
      const now = performance.now();
      if (until === 0) until = now + WAIT_LIMIT;
      if (now > until || holder === this.#suspect) {
        this.#suspect = holder;
        throw new StoreError(
          "STORE_UNAVAILABLE",
          `another thread has held the lock of a shard of the embedded store for ${WAIT_LIMIT} ms`,
        );
      }
      Atomics.wait(this.#ints, this.#at, holder, WAIT_STEP);
    }
  }
}
