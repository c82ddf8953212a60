import type { Socket } from "node:net";

/** Enough for the responses to one full read of small calls. */
const OUTPUT_BYTES = 32 * 1024;
/** With more bytes than this in the socket, the connection neither sends nor reads. */
const HIGH_WATER_BYTES = 256 * 1024;
const MAX_POOLED = 16;

const NONE = Buffer.alloc(0);
/** Free buffers. A connection holds one only while it has bytes to send. */
const pool: Buffer[] = [];
/** Outputs with bytes written outside a read. They are flushed together at the end of the current turn. */
let dirty: Output[] = [];

function flushDirty(): void {
  const outputs = dirty;
  dirty = [];
  for (const output of outputs) output.flush();
}

/**
 * A connection's outgoing bytes. Gathers all frames of one turn in one buffer and sends them with one write: at 400
 * calls in flight that is one system call for some 50 responses.
 */
export class Output {
  readonly #socket: Socket;
  readonly #copies: boolean;
  /** The buffer of the last `room`. */
  bytes: Buffer = NONE;
  /** The number of gathered bytes: the next frame begins at this position in `bytes`. The writer of a frame moves it. */
  length = 0;
  /** True during a read, between `cork` and `uncork`. */
  isCorked = false;
  /** A caller writes beyond `length` and has not committed yet. */
  #isReserved = false;
  /** Offset of the content of the last `reserve`. */
  reservedAt = 0;
  /** Bytes given to the socket. */
  #written = 0;
  #isDirty = false;
  #isClosed = false;

  /** @param encrypts the socket keeps bytes until it encrypts them (TLS), so it gets copies */
  constructor(socket: Socket, encrypts: boolean) {
    this.#socket = socket;
    this.#copies = encrypts;
  }

  /** Holds all bytes back until `uncork`, except full buffers. */
  cork(): void {
    this.isCorked = true;
  }

  uncork(): void {
    this.isCorked = false;
    this.flush();
  }

  /** Makes room for `count` bytes from `length` on and returns the buffer. The caller writes them and moves `length`. */
  room(count: number): Buffer {
    if (this.#isReserved) this.#detachReservation();
    if (this.bytes.length - this.length < count) {
      if (this.length > 0) this.#send();
      if (this.bytes.length < count) {
        this.#release();
        this.bytes =
          count <= OUTPUT_BYTES
            ? (pool.pop() ?? Buffer.allocUnsafeSlow(OUTPUT_BYTES))
            : Buffer.allocUnsafeSlow(count);
      }
    }
    if (!this.isCorked && !this.#isDirty) {
      this.#isDirty = true;
      if (dirty.push(this) === 1) process.nextTick(flushDirty);
    }
    return this.bytes;
  }

  /** Appends all of `bytes`. */
  write(bytes: Uint8Array): void {
    this.room(bytes.length).set(bytes, this.length);
    this.length += bytes.length;
  }

  /**
   * Makes room for `count` bytes that the caller writes later. The caller's content begins `before` bytes behind
   * `length`. The reservation ends with `cancelReservation`, or when anything else is written or sent.
   */
  reserve(count: number, before: number): Buffer {
    const bytes = this.room(count);
    this.#isReserved = true;
    this.reservedAt = this.length + before;
    return bytes;
  }

  /** Ends the reservation of the buffer `reserved`. False when it has already ended. */
  cancelReservation(reserved: Uint8Array): boolean {
    if (!this.#isReserved || this.bytes !== reserved) return false;
    this.#isReserved = false;
    return true;
  }

  /** Bytes that the kernel has not taken yet. */
  get unsent(): number {
    return this.#socket.writableLength;
  }

  /** Bytes that the kernel has taken since the start. They show whether a peer reads. */
  get taken(): number {
    return this.#written - this.#socket.writableLength;
  }

  get isFull(): boolean {
    return this.#socket.writableLength + this.length > HIGH_WATER_BYTES;
  }

  /** Sends the gathered bytes, unless the socket is full. True when there is room for more afterwards. */
  makeRoom(): boolean {
    if (this.#socket.writableLength > HIGH_WATER_BYTES) return false;
    this.flush();
    return !this.isFull;
  }

  flush(): void {
    this.#isDirty = false;
    if (this.#isReserved) this.#detachReservation();
    if (this.length > 0) this.#send();
    this.#release();
  }

  /** Drops all unsent bytes, and all bytes written later. */
  close(): void {
    this.#isClosed = true;
    this.length = 0;
  }

  #release(): void {
    if (this.bytes.length === OUTPUT_BYTES && pool.length < MAX_POOLED) pool.push(this.bytes);
    this.bytes = NONE;
  }

  /** Sends a copy of the complete bytes. The buffer stays with the caller, who still writes into it beyond `length`. */
  #detachReservation(): void {
    this.#isReserved = false;
    if (this.length > 0) this.#write(Buffer.from(this.bytes.subarray(0, this.length)));
    this.length = 0;
    this.bytes = NONE;
  }

  #send(): void {
    if (this.#copies) {
      this.#write(Buffer.from(this.bytes.subarray(0, this.length)));
    } else if (this.#mustCopy) {
      const copy = Buffer.allocUnsafeSlow(this.length);
      this.bytes.copy(copy, 0, 0, this.length);
      this.#write(copy);
    } else {
      this.#write(this.bytes.subarray(0, this.length));
      // Unless the kernel took all bytes during the call, the socket still refers to the buffer.
      if (this.#socket.writableLength > 0) this.bytes = NONE;
    }
    this.length = 0;
  }

  /**
   * Whether the socket would hold a large buffer for few bytes. It then gets a copy: otherwise a peer that reads nothing
   * would hold 32 KiB for each small response.
   */
  get #mustCopy(): boolean {
    return this.#socket.writableLength > 0 && this.length * 2 < this.bytes.length;
  }

  #write(bytes: Buffer): void {
    if (this.#isClosed || !this.#socket.writable) return;
    this.#written += bytes.length;
    this.#socket.write(bytes);
  }
}
