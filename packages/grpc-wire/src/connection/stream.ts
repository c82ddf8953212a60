import type { PeerCertificate } from "node:tls";
import { ErrorCode } from "../frames/constants.ts";
import { decodeBinary, metadataField } from "../grpc/metadata.ts";
import type { RequestHead } from "../grpc/request-head.ts";
import { GrpcError, Status, type StatusCode } from "../grpc/status.ts";
import { FieldKind } from "../hpack/field.ts";
import type { StreamingCall, UnaryCall } from "../types.ts";
import type { Connection } from "./connection.ts";
import type { ReadTime } from "./ended-calls.ts";
import { finishWithError } from "./failing.ts";
import type { Route } from "./host.ts";
import type { Inbound } from "./inbound.ts";
import {
  commitUnary,
  finishUnary,
  finishWithStatus,
  reserveUnary,
  settle,
  writeStreamed,
} from "./responses.ts";
import type { SendQueue } from "./send-queue.ts";

const EMPTY = new Uint8Array(0);

/** Metadata that a handler added to its answer. */
interface ResponseMetadata {
  readonly initial: [name: string, value: string][];
  readonly trailing: [name: string, value: string][];
}

/** One call: a stream of RFC 9113 section 5 with a gRPC call on it. What most calls never need is made when it is. */
export class Stream implements UnaryCall, StreamingCall {
  readonly id: number;
  readonly connection: Connection;
  readonly head: RequestHead;
  readonly route: Route;
  /** When the headers came. */
  readonly received: ReadTime;

  buffer: Uint8Array = EMPTY;
  start = 0;
  end = 0;
  offset = 0;
  /** What `reserve` returned last, and how much of it is the caller's. */
  reply: Uint8Array = EMPTY;
  replyBytes = 0;

  /** The peer's END_STREAM was seen. */
  remoteClosed = false;
  /** The response's headers are written. */
  headersSent = false;
  /** The handler's result is known, or nobody waits for it any more. */
  finished = false;
  cancelled = false;
  /** The handler returned and answers later: counted, and under the deadline's watch. */
  isPending = false;
  /** The header list was larger than the limit. */
  isTooLarge = false;
  /** A promise of the handler's is under way. */
  handlerRuns = false;
  /** The stream went while the handler ran on. */
  isOrphan = false;
  sendWindow: number;
  receiveWindow: number;
  /** Bytes of DATA without padding, for content-length. */
  bodyBytes = 0;
  inbound: Inbound | undefined;
  queue: SendQueue | undefined;
  responseMetadata: ResponseMetadata | undefined;
  wheelSlot = -1;
  #controller: AbortController | undefined;

  constructor(id: number, connection: Connection, head: RequestHead, route: Route) {
    this.id = id;
    this.connection = connection;
    this.head = head;
    this.route = route;
    this.received = connection.read;
    this.sendWindow = connection.peerStreamWindow;
    this.receiveWindow = connection.host.limits.streamWindowBytes;
  }

  get path(): string {
    return this.route.path;
  }

  get peer(): string {
    return this.connection.peer;
  }

  get deadline(): number {
    if (this.head.timeoutMs < 0) return 0;
    // Relative to the last read, like `readAt`: their difference stays right when the wall clock steps.
    const { wall, monotonic } = this.connection.read;
    return wall + (this.expiresAt - monotonic);
  }

  /** The deadline by the monotonic clock; only for calls that have one. */
  get expiresAt(): number {
    return this.received.monotonic + this.head.timeoutMs;
  }

  /** Whether the call has a deadline that has passed. */
  isLate(now: number): boolean {
    return this.head.timeoutMs >= 0 && now >= this.expiresAt;
  }

  get readAt(): number {
    return this.connection.read.wall;
  }

  get peerCertificate(): PeerCertificate | undefined {
    return this.connection.peerCertificate;
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
    if (this.headersSent)
      throw new Error(`initial metadata ${name}: the response's headers have left already`);
    this.#metadata().initial.push(metadataField(name, value));
  }

  setTrailingMetadata(name: string, value: string | Uint8Array): void {
    if (this.finished && !this.cancelled) throw new Error(`trailing metadata ${name}: the call is finished`);
    this.#metadata().trailing.push(metadataField(name, value));
  }

  reserve(maxBytes: number): Uint8Array {
    return reserveUnary(this, maxBytes);
  }

  commit(length: number): void {
    if (!(length >= 0 && length <= this.replyBytes))
      throw new RangeError(`commit(${length}): ${this.replyBytes} bytes were reserved`);
    if (!this.finished) commitUnary(this, length);
  }

  finish(message: Uint8Array): void {
    if (!this.finished) finishUnary(this, message);
  }

  fail(error: unknown): void {
    if (this.finished) return;
    if (error instanceof GrpcError) {
      finishWithError(this, error);
      return;
    }
    this.connection.host.onHandlerError?.(error, this.path);
    finishWithStatus(this, Status.UNKNOWN, "the method failed");
  }

  write(message: Uint8Array): Promise<void> {
    if (!(message instanceof Uint8Array))
      return Promise.reject(new TypeError("a message must be a Uint8Array"));
    if (this.finished) return Promise.reject(this.endedError());
    return writeStreamed(this, message);
  }

  /** Error for handlers that keep using a cancelled call. */
  endedError(): GrpcError {
    if (this.isLate(this.connection.host.clock()))
      return new GrpcError(Status.DEADLINE_EXCEEDED, "the caller's deadline has passed");
    return new GrpcError(Status.CANCELLED, "the call has ended");
  }

  /** The deadline wheel's call: the caller waits no longer. */
  onDeadline(): void {
    if (this.finished) return;
    this.queue?.drop();
    this.abandon();
    finishWithStatus(this, Status.DEADLINE_EXCEEDED, "the deadline has passed");
  }

  /** Nobody will read an answer: the peer reset the stream or its connection is gone. */
  cancel(): void {
    this.abandon();
    this.queue?.drop();
    if (!this.finished) settle(this, Status.CANCELLED as StatusCode);
  }

  /** The peer neither reads nor sends on: the stream is reset. */
  giveUp(): void {
    this.connection.resetStream(this.id, ErrorCode.CANCEL);
  }

  /** Tells the handler, without finishing the call. */
  abandon(): void {
    this.cancelled = true;
    this.inbound?.fail(this.endedError());
    this.#controller?.abort();
    this.queue?.rejectWaiting(this.endedError());
  }

  #metadata(): ResponseMetadata {
    this.responseMetadata ??= { initial: [], trailing: [] };
    return this.responseMetadata;
  }
}
