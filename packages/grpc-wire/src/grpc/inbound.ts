import type { ServerStream } from "../http2/interface.ts";
import { GrpcError, Status } from "../status.ts";
import type { CallHead } from "./call-head.ts";
import { Encoding } from "./call-head.ts";
import { inflate } from "./compression.ts";
import type { CallContext } from "./context.ts";
import { Fifo } from "./fifo.ts";
import { OversizedMessage } from "./oversized.ts";

const PREFIX_BYTES = 5;
/** The memory of a message besides its bytes. A message can be as short as its prefix. */
const MESSAGE_OVERHEAD_BYTES = 64;
const NONE = Buffer.alloc(0);

/** The call of the messages. */
export interface InboundCall {
  readonly stream: ServerStream;
  readonly context: CallContext;
  readonly head: CallHead;
  /** The messages of a cancelled call are not decompressed. */
  readonly state: { readonly cancelled: boolean };
}

/** One whole request message, as received. */
export interface ReceivedMessage {
  readonly bytes: Uint8Array;
  readonly compressed: boolean;
}

interface Waiter {
  readonly resolve: (result: IteratorResult<Uint8Array>) => void;
  readonly reject: (error: GrpcError) => void;
}

/**
 * Assembles the length-prefixed request messages of one call from their parts, and holds them until the handler takes them.
 * The message limit, the stream's window, and the limits of the connection and the server bound the held bytes.
 */
export class Inbound implements AsyncIterableIterator<Uint8Array> {
  readonly #call: InboundCall;
  /** The incomplete prefix or message. The buffer grows with the received bytes. */
  #buffer = NONE;
  #have = 0;
  #want = PREFIX_BYTES;
  /** `#buffer` holds a prefix, not a message. */
  #isPrefix = true;
  #compressed = false;
  /** Bytes counted against the limits. */
  #held = 0;
  #whole = new Fifo<ReceivedMessage>();
  #waiters: Waiter[] = [];
  #ended = false;
  #failure: GrpcError | undefined;
  #discarding = false;

  constructor(call: InboundCall) {
    this.#call = call;
  }

  /** The number of whole messages that the handler has not taken. */
  get count(): number {
    return this.#whole.length;
  }

  /** Whether a message is incomplete. A prefix without message bytes counts as incomplete. */
  get isMidMessage(): boolean {
    return this.#have > 0 || !this.#isPrefix;
  }

  /** Takes `bytes[start, end)`. Returns the error that fails the call, or undefined. */
  take(bytes: Uint8Array, start: number, end: number): GrpcError | undefined {
    if (this.#discarding) return undefined;
    let at = start;
    while (at < end) {
      const taken = Math.min(this.#want - this.#have, end - at);
      const grown = this.#grow(this.#have + taken);
      if (grown !== undefined) return grown;
      copyInto(this.#buffer, this.#have, bytes, at, taken);
      this.#have += taken;
      at += taken;
      if (this.#isPrefix && this.#have === PREFIX_BYTES) {
        const fault = this.#readPrefix();
        if (fault !== undefined) return fault;
      }
      if (!this.#isPrefix && this.#have === this.#want) this.#complete();
    }
    return undefined;
  }

  /** Removes and returns the first whole message. */
  shift(): ReceivedMessage | undefined {
    return this.#whole.shift();
  }

  /** The request is complete. */
  end(): void {
    this.#ended = true;
    this.#serve();
  }

  /** Ends the request with an error: rejects all pending `next` promises, and releases all bytes. */
  fail(error: GrpcError): void {
    this.#failure ??= error;
    this.release();
    for (const waiter of this.#waiters.splice(0)) waiter.reject(this.#failure);
  }

  /** Releases all bytes, and drops later ones. */
  release(): void {
    this.#discarding = true;
    this.#account(-this.#held);
    this.#whole = new Fifo();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      this.#serve();
    });
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.release();
    this.#ended = true;
    return Promise.resolve({ done: true, value: undefined });
  }

  #readPrefix(): GrpcError | undefined {
    const flag = this.#buffer[0]!;
    const length = this.#buffer.readUInt32BE(1);
    const limit = this.#call.context.deps.maxRequestBytes;
    if (flag > 1)
      return new GrpcError(Status.INTERNAL, `the message's compressed flag is ${flag}, not 0 or 1`);
    if (length > limit) return new OversizedMessage(`the message of ${length} bytes exceeds ${limit} bytes`);
    this.#compressed = flag === 1;
    this.#isPrefix = false;
    this.#have = 0;
    this.#want = length;
    this.#account(-this.#buffer.length);
    this.#buffer = NONE;
    return this.#charge(MESSAGE_OVERHEAD_BYTES);
  }

  /** Makes room for `total` bytes. The buffer grows with the received bytes, not with the announced length. */
  #grow(total: number): GrpcError | undefined {
    if (this.#buffer.length >= total) return undefined;
    const size = Math.min(this.#want, Math.max(total, this.#buffer.length * 2));
    const refusal = this.#charge(size - this.#buffer.length);
    if (refusal !== undefined) return refusal;
    const larger = Buffer.allocUnsafeSlow(size);
    this.#buffer.copy(larger, 0, 0, this.#have);
    this.#buffer = larger;
    return undefined;
  }

  /** Counts `more` bytes against the limits. Returns an error when they do not allow it. */
  #charge(more: number): GrpcError | undefined {
    const refusal = this.#call.context.buffered.charge(more);
    if (refusal === undefined) this.#held += more;
    return refusal;
  }

  #account(change: number): void {
    this.#held += change;
    this.#call.context.buffered.add(change);
  }

  #complete(): void {
    this.#whole.push({ bytes: this.#buffer, compressed: this.#compressed });
    this.#buffer = NONE;
    this.#have = 0;
    this.#want = PREFIX_BYTES;
    this.#isPrefix = true;
    this.#serve();
  }

  #serve(): void {
    while (this.#waiters.length > 0) {
      const message = this.#whole.shift();
      if (message !== undefined) {
        this.#account(-message.bytes.length - MESSAGE_OVERHEAD_BYTES);
        const { resolve, reject } = this.#waiters.shift()!;
        inflatedLater(message, this.#call).then((value) => resolve({ done: false, value }), reject);
        if (this.#whole.length === 0) this.#call.stream.returnWindow();
      } else if (this.#failure !== undefined) {
        this.#waiters.shift()!.reject(this.#failure);
      } else if (this.#ended) {
        this.#waiters.shift()!.resolve({ done: true, value: undefined });
      } else return;
    }
  }
}

/** Copies `count` bytes. A loop is faster for few bytes, because `set` requires a view of the source. */
function copyInto(out: Buffer, to: number, bytes: Uint8Array, from: number, count: number): void {
  if (count > 64) out.set(bytes.subarray(from, from + count), to);
  else for (let index = 0; index < count; index++) out[to + index] = bytes[from + index]!;
}

async function inflatedLater(message: ReceivedMessage, call: InboundCall): Promise<Uint8Array> {
  return inflated(message, call);
}

/** Returns a message's decompressed bytes. The message counts against the limits until then. Throws or rejects with a `GrpcError`. */
export function inflated(message: ReceivedMessage, call: InboundCall): Uint8Array | Promise<Uint8Array> {
  if (!message.compressed) return message.bytes;
  if (call.head.encoding !== Encoding.GZIP)
    throw new GrpcError(
      Status.INTERNAL,
      "the message is marked as compressed, but grpc-encoding names no encoding",
    );
  const { deps, buffered } = call.context;
  const { length } = message.bytes;
  const plain = inflate(message.bytes, deps.maxRequestBytes, call.state);
  if (plain instanceof Uint8Array) return plain;
  buffered.add(length);
  return plain.finally(() => buffered.add(-length));
}
