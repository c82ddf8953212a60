import { MAX_FRAME_BYTES } from "../frames/constants.ts";
import { copyOf } from "../frames/copy.ts";
import { writeUint32 } from "../frames/write.ts";
import type { ServerStream } from "../http2/interface.ts";
import { type GrpcError, Status } from "../status.ts";
import type { InPlaceUnaryHandler, UnaryCall } from "../types.ts";
import { PREFIX_BYTES } from "./call.ts";
import type { CallHead } from "./call-head.ts";
import { deflateInPool, isDeflatedInline } from "./compression.ts";
import type { CallContext } from "./context.ts";
import { isThenable } from "./handler-results.ts";
import { OversizedMessage } from "./oversized.ts";
import type { Route } from "./route.ts";
import { SingleMessageCall } from "./single-message-call.ts";
import { OK_TRAILERS } from "./templates.ts";

const EMPTY = new Uint8Array(0);

/** A unary call. The handler reads the message inside the read buffer. A response that fits is written in place. */
export class UnaryServerCall extends SingleMessageCall implements UnaryCall {
  readonly #handler: InPlaceUnaryHandler;
  buffer: Uint8Array = EMPTY;
  start = 0;
  end = 0;
  /** The buffer of the last `reserve`. */
  #reply: Uint8Array = EMPTY;
  /** The number of bytes that the handler may write into `#reply`. */
  #replyBytes = 0;
  offset = 0;

  constructor(
    stream: ServerStream,
    head: CallHead,
    context: CallContext,
    { handler }: Extract<Route, { kind: "unary" }>,
  ) {
    super(stream, head, context);
    this.#handler = handler;
  }

  get readAt(): number {
    return this.stream.connection.clock.read.wall;
  }

  protected onMessage(bytes: Uint8Array, start: number, end: number): void {
    this.buffer = bytes;
    this.start = start;
    this.end = end;
    try {
      const result: unknown = this.#handler(this);
      // The type also allows an async function. When its promise rejects, the call fails, and the process continues.
      if (isThenable(result))
        this.holdSlot(
          () => Promise.resolve(result),
          () => {},
        );
    } catch (error) {
      this.fail(error);
    }
    if (this.isFinished) return;
    this.buffer = EMPTY;
    this.start = 0;
    this.end = 0;
    this.markPending();
  }

  reserve(maxBytes: number): Uint8Array {
    const { stream } = this;
    this.#reply = stream.reserve(this.headers, PREFIX_BYTES + maxBytes, OK_TRAILERS);
    this.#replyBytes = maxBytes;
    this.offset = stream.reservedAt + PREFIX_BYTES;
    return this.#reply;
  }

  commit(length: number): void {
    if (!(length >= 0 && length <= this.#replyBytes))
      throw new RangeError(`commit(${length}): ${this.#replyBytes} bytes were reserved`);
    if (this.isFinished) return;
    const at = this.offset;
    const reply = this.#reply;
    // Writes the prefix before the message. This is safe even when the reservation has ended.
    reply[at - PREFIX_BYTES] = 0;
    writeUint32(reply, at - PREFIX_BYTES + 1, length);
    const isPlain = this.responseMetadata === undefined && !this.isCompressed(length);
    if (isPlain && this.stream.commit(reply, this.headers, PREFIX_BYTES + length, OK_TRAILERS))
      this.markSent();
    else {
      this.stream.dropReservation(reply);
      this.send(copyOf(reply, at, at + length));
    }
  }

  finish(message: Uint8Array): void {
    if (this.isFinished) return;
    const { length } = message;
    if (length + PREFIX_BYTES > MAX_FRAME_BYTES) {
      this.send(copyOf(message, 0, length));
      return;
    }
    this.reserve(length).set(message, this.offset);
    this.commit(length);
  }

  /** `onOversizedMessage` may return a response for an oversized message. */
  protected override finishWithError(error: GrpcError): void {
    const answer = error instanceof OversizedMessage ? this.oversizedAnswer() : undefined;
    if (answer === undefined) super.finishWithError(error);
    else this.finish(answer);
  }

  private oversizedAnswer(): Uint8Array | undefined {
    const { onOversizedMessage, onHandlerError } = this.context.deps;
    try {
      return onOversizedMessage?.(this.path);
    } catch (error) {
      onHandlerError?.(error, this.path);
      return undefined;
    }
  }

  private get headers(): Uint8Array {
    return this.context.deps.responseHeaders[this.head.subtype]!;
  }

  /** Queues the response. The bytes of `message` belong to the call. */
  private send(message: Uint8Array): void {
    if (!this.isCompressed(message.length) || isDeflatedInline(message)) {
      if (this.sendMessage(message, false)) this.finishWithStatus(Status.OK, "");
      return;
    }
    if (this.refuseAnswer()) return;
    // The call is finished for the handler. The compressed message and the status follow.
    this.settle(Status.OK);
    const { sender } = this.stream.connection;
    sender.countQueued(message.length);
    deflateInPool(message).then((deflated) => {
      sender.countQueued(-message.length);
      if (this.cancelled) return;
      if (this.queueMessage(deflated ?? message, deflated !== undefined, false))
        this.sendStatus(Status.OK, "");
    });
  }
}
