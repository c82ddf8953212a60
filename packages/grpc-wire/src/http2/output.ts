import type { Socket } from "node:net";

/** Enough for the answers to one full read of small calls. */
const OUTPUT_BYTES = 32 * 1024;
/** Above this many bytes in the socket, the connection neither sends nor reads. */
const HIGH_WATER_BYTES = 256 * 1024;
const MAX_POOLED = 16;

const NONE = Buffer.alloc(0);
/** Free buffers. A connection holds one only while it has bytes to send. */
const pool: Buffer[] = [];
/** Outputs with bytes written outside a read. They are sent together at the end of the current turn. */
let dirty: Output[] = [];

function flushDirty(): void {
  const outputs = dirty;
  dirty = [];
  for (const output of outputs) output.flush();
}

/**
 * A connection's outgoing bytes. All frames of one turn gather in one buffer and leave in one write: at 400
 * calls in flight that is one system call for some 50 answers.
 */
export class Output {
  readonly #socket: Socket;
  readonly #copies: boolean;
  /** The buffer to write into, from `length` on, after `room`. */
  bytes: Buffer = NONE;
  length = 0;
  /** True during a read. Its end flushes. */
  corked = false;
  /** True while a caller writes beyond `length` and has not committed yet. */
  reserved = false;
  /** Where that caller's content begins. */
  reservedAt = 0;
  /** Bytes given to the socket. */
  #handed = 0;
  #isDirty = false;
  #closed = false;

  /** `encrypts`: the socket keeps bytes until it encrypts them (TLS), so it gets copies. */
  constructor(socket: Socket, encrypts: boolean) {
    this.#socket = socket;
    this.#copies = encrypts;
  }

  /** Makes room for `count` bytes at `length` in `bytes`. The caller then advances `length`. */
  room(count: number): Buffer {
    if (this.reserved) this.#leaveReservation();
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
    if (!this.corked && !this.#isDirty) {
      this.#isDirty = true;
      if (dirty.push(this) === 1) process.nextTick(flushDirty);
    }
    return this.bytes;
  }

  /** Appends `bytes` whole. */
  write(bytes: Uint8Array): void {
    this.room(bytes.length).set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Bytes that the kernel has not taken yet. */
  get unsent(): number {
    return this.#socket.writableLength;
  }

  /** Bytes that the kernel has taken since the start. They show whether a peer reads. */
  get taken(): number {
    return this.#handed - this.#socket.writableLength;
  }

  get isFull(): boolean {
    return this.#socket.writableLength + this.length > HIGH_WATER_BYTES;
  }

  /** Sends what is gathered, unless the socket is full. True when there is room for more afterwards. */
  makeRoom(): boolean {
    if (this.#socket.writableLength > HIGH_WATER_BYTES) return false;
    this.flush();
    return !this.isFull;
  }

  flush(): void {
    this.#isDirty = false;
    if (this.reserved) this.#leaveReservation();
    if (this.length > 0) this.#send();
    this.#release();
  }

  /** Drops all bytes that are not sent, now and later. */
  close(): void {
    this.#closed = true;
    this.length = 0;
  }

  #release(): void {
    if (this.bytes.length === OUTPUT_BYTES && pool.length < MAX_POOLED) pool.push(this.bytes);
    this.bytes = NONE;
  }

  /** A caller still writes into `bytes` beyond `length`. Sends a copy of the complete part, and leaves it the buffer. */
  #leaveReservation(): void {
    this.reserved = false;
    if (this.length > 0) this.#hand(Buffer.from(this.bytes.subarray(0, this.length)));
    this.length = 0;
    this.bytes = NONE;
  }

  #send(): void {
    if (this.#copies) {
      this.#hand(Buffer.from(this.bytes.subarray(0, this.length)));
    } else if (this.#isBehind) {
      const copy = Buffer.allocUnsafeSlow(this.length);
      this.bytes.copy(copy, 0, 0, this.length);
      this.#hand(copy);
    } else {
      this.#hand(this.bytes.subarray(0, this.length));
      // Unless the kernel took all bytes during the call, the socket still refers to the buffer.
      if (this.#socket.writableLength > 0) this.bytes = NONE;
    }
    this.length = 0;
  }

  /**
   * The socket will keep the bytes, and they are few, so it gets a copy. With the buffer itself, a peer that reads nothing
   * would hold 32 KiB for each small answer.
   */
  get #isBehind(): boolean {
    return this.#socket.writableLength > 0 && this.length * 2 < this.bytes.length;
  }

  #hand(bytes: Buffer): void {
    if (this.#closed || !this.#socket.writable) return;
    this.#handed += bytes.length;
    this.#socket.write(bytes);
  }
}
