import type { PeerCertificate } from "node:tls";
import { ErrorCode } from "../frames/constants.ts";
import { copyOf } from "../frames/copy.ts";
import { writeUint32 } from "../frames/write.ts";
import { FieldKind } from "../hpack/field.ts";
import type { ServerStream, StreamEvents } from "../http2/interface.ts";
import type { ReadTime } from "../http2/read-clock.ts";
import { GrpcError, Status, type StatusCode } from "../status.ts";
import type { Call } from "../types.ts";
import type { CallHead } from "./call-head.ts";
import { deflate, isDeflatedInline } from "./compression.ts";
import type { CallContext } from "./context.ts";
import type { Timed } from "./deadlines.ts";
import { Inbound } from "./inbound.ts";
import { decodeBinary, metadataField } from "./metadata.ts";
import { headersBlock, type ResponseMetadata, trailersBlock, wantsGzip } from "./response.ts";

/** The length of a message's prefix: the compressed flag and the message length. */
export const PREFIX_BYTES = 5;
/** A message of up to this length is copied behind its prefix and queued as one piece. */
const SHORT_BYTES = 1024;

/**
 * A gRPC call of any kind on one HTTP/2 stream: its metadata, its deadline, the slot of its handler, its messages and its
 * status. Creates parts that few calls need on first use.
 */
export abstract class ServerCall implements Call, StreamEvents, Timed {
  /** State of `Deadlines`. */
  deadlinePlace = -1;
  /** The stream was reset, the connection was lost, or the deadline has passed. */
  cancelled = false;
  protected readonly stream: ServerStream;
  protected readonly context: CallContext;
  protected readonly head: CallHead;
  /** The status is final. The call drops any later result of the handler. */
  protected isFinished = false;
  /** The response comes later: the call counts as active, and `PendingCalls` enforces its deadline. */
  protected isPending = false;
  /** The handler's promise has not settled. */
  #isRunning = false;
  /** The response's headers have been sent. */
  #isHeadersSent = false;
  protected inbound: Inbound | undefined;
  protected responseMetadata: ResponseMetadata | undefined;
  #controller: AbortController | undefined;

  constructor(stream: ServerStream, head: CallHead, context: CallContext) {
    this.stream = stream;
    this.context = context;
    this.head = head;
    stream.attach(this);
  }

  // The handler's view

  /** Empty for an unknown method. */
  get path(): string {
    return this.head.route?.path ?? "";
  }

  get received(): ReadTime {
    return this.stream.received;
  }

  get peer(): string {
    return this.stream.connection.peer.address;
  }

  get peerCertificate(): PeerCertificate | undefined {
    return this.stream.connection.peer.certificate;
  }

  get deadline(): number {
    if (this.head.timeoutMs < 0) return 0;
    // Relative to the last read, like `readAt`, so that their difference is correct after a step of the wall clock.
    const { wall, monotonic } = this.stream.connection.clock.read;
    return wall + (this.expiresAt - monotonic);
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.cancelled) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  metadata(name: string): string | undefined {
    for (const field of this.head.fields) if (field.name === name) return field.value;
    return undefined;
  }

  binaryMetadata(name: string): Uint8Array | undefined {
    const value = this.metadata(name);
    return value === undefined ? undefined : decodeBinary(value);
  }

  metadataEntries(): [name: string, value: string][] {
    return this.head.fields
      .filter(({ kind, name }) => kind === FieldKind.OTHER && !name.startsWith("grpc-"))
      .map(({ name, value }) => [name, value]);
  }

  setInitialMetadata(name: string, value: string | Uint8Array): void {
    if (this.#isHeadersSent)
      throw new Error(`initial metadata ${name}: the response's headers have been sent already`);
    this.openMetadata().initial.push(metadataField(name, value));
  }

  setTrailingMetadata(name: string, value: string | Uint8Array): void {
    if (this.isFinished && !this.cancelled)
      throw new Error(`trailing metadata ${name}: the call is finished`);
    this.openMetadata().trailing.push(metadataField(name, value));
  }

  // The request

  abstract onData(bytes: Buffer, start: number, end: number, ended: boolean): void;
  abstract onEnd(): void;

  protected openInbound(): Inbound {
    const { stream, context, head } = this;
    this.inbound ??= new Inbound({ stream, context, head, state: this });
    return this.inbound;
  }

  /** Fails the call because of its request. Also rejects the promises that a running handler waits for. */
  protected failRequest(error: GrpcError): void {
    this.inbound?.fail(error);
    if (this.#isRunning) this.abandon();
    this.finishWithError(error);
  }

  // The deadline

  /** The deadline by the monotonic clock. Only valid for calls with a deadline. */
  get expiresAt(): number {
    return this.received.monotonic + this.head.timeoutMs;
  }

  protected isLate(now: number): boolean {
    return this.head.timeoutMs >= 0 && now >= this.expiresAt;
  }

  onDeadline(): void {
    if (this.isFinished) return;
    this.stream.dropQueued();
    this.abandon();
    this.finishWithStatus(Status.DEADLINE_EXCEEDED, "the deadline has passed");
  }

  /** Ends the call when its request takes too long to arrive. */
  onSweep(now: number): void {
    if (this.isFinished) return;
    const { requestTimeoutMs } = this.context.deps;
    if (this.isLate(now)) this.onDeadline();
    else if (requestTimeoutMs > 0 && now - this.received.monotonic >= requestTimeoutMs)
      this.stream.reset(ErrorCode.CANCEL);
  }

  // The handler

  /** Marks the call as one whose response comes later. */
  protected markPending(): void {
    if (this.isPending || this.isFinished) return;
    this.isPending = true;
    this.context.deps.pending.add(this, this.head.timeoutMs >= 0);
  }

  /**
   * Keeps the call's slot of `maxConcurrentStreams` until the handler's promise settles, even when the stream ends first.
   * No other code retains or releases a slot, so each slot is released exactly once.
   */
  holdSlot<T>(run: () => Promise<T>, onResult: (value: T) => void): void {
    this.stream.retain();
    this.#isRunning = true;
    const release = () => {
      this.#isRunning = false;
      this.stream.release();
    };
    run().then(
      (value) => {
        release();
        try {
          onResult(value);
        } catch (error) {
          this.fail(error);
        }
      },
      (error) => {
        release();
        this.fail(error);
      },
    );
  }

  /** Finishes the call with the status of a `GrpcError`. Any other error becomes UNKNOWN, without its message. */
  fail(error: unknown): void {
    if (this.isFinished) return;
    if (error instanceof GrpcError) {
      this.finishWithError(error);
      return;
    }
    this.context.deps.onHandlerError?.(error, this.path);
    this.finishWithStatus(Status.UNKNOWN, "the method failed");
  }

  // The response

  /** Whether the call compresses a response message of this length. */
  protected isCompressed(length: number): boolean {
    const { deps } = this.context;
    return length >= deps.compressionThresholdBytes && wantsGzip(this.head, deps);
  }

  /**
   * Resets the stream and returns true when too many bytes of responses are queued. The call checks this before its handler
   * runs, and again before it queues a response, because other calls may have queued theirs in the meantime.
   */
  protected refuseAnswer(): boolean {
    if (!this.stream.connection.sender.isQueueFull()) return false;
    this.stream.reset(ErrorCode.ENHANCE_YOUR_CALM);
    return true;
  }

  /** Queues a message, and compresses it here when that is cheap. Returns false when the stream was reset instead. */
  protected sendMessage(message: Uint8Array, isTheirs: boolean): boolean {
    if (this.isCompressed(message.length) && isDeflatedInline(message))
      return this.queueMessage(deflate(message), true, false);
    return this.queueMessage(message, false, isTheirs);
  }

  /**
   * Queues a message. Returns false when the stream was reset instead.
   * @param isTheirs the handler owns the bytes and may change them
   */
  protected queueMessage(message: Uint8Array, compressed: boolean, isTheirs: boolean): boolean {
    if (this.refuseAnswer()) return false;
    const { stream, head } = this;
    if (!this.#isHeadersSent) {
      stream.sendHeaders(headersBlock(head, this.context.deps, this.responseMetadata), false);
      this.#isHeadersSent = true;
    }
    const { length } = message;
    const isShort = length <= SHORT_BYTES;
    const prefix = new Uint8Array(isShort ? PREFIX_BYTES + length : PREFIX_BYTES);
    prefix[0] = compressed ? 1 : 0;
    writeUint32(prefix, 1, length);
    if (isShort) prefix.set(message, PREFIX_BYTES);
    stream.sendData(prefix);
    if (!isShort) stream.sendData(isTheirs ? copyOf(message, 0, length) : message);
    return true;
  }

  /** Sends one message of a streaming response. Resolves when there is room for more. */
  protected writeMessage(message: Uint8Array): Promise<void> {
    if (!(message instanceof Uint8Array))
      return Promise.reject(new TypeError("a message must be a Uint8Array"));
    if (this.isFinished || !this.sendMessage(message, true)) return Promise.reject(this.endedError());
    return this.stream.whenRoomy() ?? Promise.resolve();
  }

  /** Finishes a call whose whole response was sent in place. */
  protected markSent(): void {
    this.#isHeadersSent = true;
    this.settle(Status.OK);
  }

  protected finishWithError({ code, message }: GrpcError): void {
    this.finishWithStatus(code, message);
  }

  /** Ends the call with a status in trailers, or in a Trailers-Only response when no headers were sent. */
  protected finishWithStatus(code: StatusCode, message: string): void {
    this.settle(code);
    this.sendStatus(code, message);
  }

  protected sendStatus(code: StatusCode, message: string): void {
    const { head, context } = this;
    const isAlone = !this.#isHeadersSent;
    this.#isHeadersSent = true;
    this.stream.sendTrailers(
      trailersBlock(head, context.deps, this.responseMetadata, isAlone, code, message),
    );
  }

  /** Makes the status final, and reports it to the observer. */
  protected settle(code: StatusCode): void {
    this.isFinished = true;
    if (this.isPending) {
      this.isPending = false;
      this.context.deps.pending.remove(this);
    }
    this.inbound?.release();
    this.context.ended?.add(this, code);
  }

  // The end

  /** The stream was reset, or the connection was lost. */
  onReset(): void {
    this.abandon();
    if (!this.isFinished) this.settle(Status.CANCELLED);
  }

  /** Error for handlers that keep using a cancelled call. */
  protected endedError(): GrpcError {
    if (this.isLate(performance.now()))
      return new GrpcError(Status.DEADLINE_EXCEEDED, "the caller's deadline has passed");
    return new GrpcError(Status.CANCELLED, "the call has ended");
  }

  /** Cancels the handler's work, without finishing the call. */
  private abandon(): void {
    this.cancelled = true;
    this.inbound?.fail(this.endedError());
    this.#controller?.abort();
    this.stream.rejectWaiting(this.endedError());
  }

  private openMetadata(): ResponseMetadata {
    this.responseMetadata ??= { initial: [], trailing: [] };
    return this.responseMetadata;
  }
}
