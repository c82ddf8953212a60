/** Above this number of queued bytes on one stream, its handler waits. */
const HIGH_WATER_BYTES = 64 * 1024;

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** The queued content of one stream, and the way the stream ends after it. */
export class SendQueue {
  readonly #onSize: (change: number) => void;
  #chunks: Uint8Array[] = [];
  #first = 0;
  /** Sent bytes of the first chunk. */
  #sent = 0;
  #bytes = 0;
  #movedAt: number;
  #trailers: Uint8Array | undefined;
  #endsWithData = false;
  #waiters: Waiter[] = [];

  constructor(now: number, onSize: (change: number) => void) {
    this.#movedAt = now;
    this.#onSize = onSize;
  }

  /** Queued bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The time when bytes last left the queue, or entered the empty queue. */
  get movedAt(): number {
    return this.#movedAt;
  }

  /** The header block that ends the stream. */
  get trailers(): Uint8Array | undefined {
    return this.#trailers;
  }

  /** Whether the last DATA frame ends the stream: a response without trailers. */
  get endsWithData(): boolean {
    return this.#endsWithData;
  }

  push(chunk: Uint8Array, now: number): void {
    if (this.#bytes === 0) this.#movedAt = now;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    this.#onSize(chunk.length);
  }

  endWithTrailers(block: Uint8Array): void {
    this.#trailers = block;
  }

  endWithData(): void {
    this.#endsWithData = true;
  }

  /** Moves `count` queued bytes to `out` at `at`. */
  moveTo(out: Uint8Array, at: number, count: number, now: number): void {
    let left = count;
    while (left > 0) {
      const chunk = this.#chunks[this.#first]!;
      const taken = Math.min(left, chunk.length - this.#sent);
      out.set(taken === chunk.length ? chunk : chunk.subarray(this.#sent, this.#sent + taken), at);
      at += taken;
      left -= taken;
      this.#sent += taken;
      if (this.#sent === chunk.length) {
        this.#sent = 0;
        this.#first += 1;
      }
    }
    if (this.#first > 64 || this.#first === this.#chunks.length) {
      this.#chunks.splice(0, this.#first);
      this.#first = 0;
    }
    this.#bytes -= count;
    this.#movedAt = now;
    this.#onSize(-count);
    if (this.#waiters.length > 0 && this.#bytes <= HIGH_WATER_BYTES)
      for (const { resolve } of this.#waiters.splice(0)) resolve();
  }

  /** Resolves when there is room for more; undefined when there is room now. */
  whenRoomy(): Promise<void> | undefined {
    if (this.#bytes <= HIGH_WATER_BYTES) return undefined;
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  /** Drops the queued bytes. */
  drop(): void {
    this.#onSize(-this.#bytes);
    this.#bytes = 0;
    this.#chunks = [];
    this.#first = 0;
    this.#sent = 0;
  }

  rejectWaiting(error: Error): void {
    for (const { reject } of this.#waiters.splice(0)) reject(error);
  }
}
