import type { GrpcError } from "../grpc/status.ts";

/** Above this many bytes of one stream that wait, a writing handler waits too. */
const HIGH_WATER_BYTES = 64 * 1024;

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: GrpcError) => void;
}

/** Answer bytes of one stream that wait for the peer's window, and the trailers that follow them. */
export class SendQueue {
  #chunks: Uint8Array[] = [];
  #first = 0;
  /** How much of the first chunk is sent. */
  #sent = 0;
  /** Bytes that wait. */
  bytes = 0;
  /** The header block to end the stream with, once it is known. */
  trailers: Uint8Array | undefined;
  /** The last byte ends the stream: a body without trailers. */
  endsWithData = false;
  /** When bytes last moved. */
  movedAt: number;
  readonly #onSize: (change: number) => void;
  #waiters: Waiter[] = [];

  constructor(now: number, onSize: (change: number) => void) {
    this.movedAt = now;
    this.#onSize = onSize;
  }

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.bytes += chunk.length;
    this.#onSize(chunk.length);
  }

  /** Moves `count` of the waiting bytes, at most `bytes`, to `out` at `at`. */
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
    this.bytes -= count;
    this.movedAt = now;
    this.#onSize(-count);
    if (this.#waiters.length > 0 && this.bytes <= HIGH_WATER_BYTES)
      for (const { resolve } of this.#waiters.splice(0)) resolve();
  }

  /** Resolves when there is room for more. */
  whenRoomy(): Promise<void> | undefined {
    if (this.bytes <= HIGH_WATER_BYTES) return undefined;
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  /** Forgets what waits. */
  drop(): void {
    this.#onSize(-this.bytes);
    this.bytes = 0;
    this.#chunks = [];
    this.#first = 0;
    this.#sent = 0;
  }

  rejectWaiting(error: GrpcError): void {
    for (const { reject } of this.#waiters.splice(0)) reject(error);
  }
}
