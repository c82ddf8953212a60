/** What the HTTP/2 layer and the layer above it know of each other. HTTP/2 emits headers, data, end and reset. */
import type { PeerCertificate } from "node:tls";
import type { ErrorCode } from "../frames/constants.ts";
import type { ReadTime } from "./read-clock.ts";
import type { RequestHead } from "./request-head.ts";

/** Events of one connection. The layer above has one object of this kind for each connection. */
export interface ConnectionEvents {
  /**
   * A request's headers. Call `stream.attach` before anything else, or reset the stream.
   * @param ended the request has no body
   */
  onRequest(stream: ServerStream, head: RequestHead, ended: boolean): void;
  /** A read begins. All answers that are made before `onReadEnd` leave in one write. */
  onReadBegin(): void;
  onReadEnd(): void;
}

/** Events of one stream. */
export interface StreamEvents {
  /**
   * The content of a DATA frame, `bytes[start, end)`; valid during the call.
   * @param ended the request is complete
   */
  onData(bytes: Buffer, start: number, end: number, ended: boolean): void;
  /** The request is complete; its end came in trailers. */
  onEnd(): void;
  /** The stream ended early: a reset by either side, a lost connection. Nothing can be sent any more. */
  onReset(): void;
  /** Comes every so often while the request is incomplete: the moment for time-outs. */
  onSweep(now: number): void;
}

/** What the layer above can do with a stream. */
export interface ServerStream {
  readonly id: number;
  /** The caller's address: `127.0.0.1:54321`, `[::1]:54321`, or `unix:`. */
  readonly peer: string;
  readonly peerCertificate: PeerCertificate | undefined;
  /** When the headers came. */
  readonly received: ReadTime;
  /** When the current or last read of the connection began. */
  readonly lastRead: ReadTime;
  /** Monotonic time of the current read or sweep. */
  readonly now: number;

  attach(events: StreamEvents): void;
  /** Returns the stream's receive window. Not called for data that is still held: the peer then sends no more. */
  returnWindow(): void;
  /** Keeps the stream's slot of `maxConcurrentStreams` when it closes, until `release`. */
  retain(): void;
  release(): void;

  /**
   * Makes room for a whole response: headers, one DATA frame of at most `maxBytes`, trailers. `headers` is a whole HEADERS
   * frame for stream 0. Returns the buffer to write the content into, at `reservedAt`.
   */
  reserve(headers: Uint8Array, maxBytes: number, trailers: Uint8Array): Buffer;
  /** Where the content begins; only right after `reserve`. */
  readonly reservedAt: number;
  /**
   * Sends the response that `reserve` made room for in `reserved`, `size` bytes of content, in place. Returns false, and
   * sends nothing, when that is not possible: the reservation is gone, or the content does not fit the windows.
   */
  commit(reserved: Uint8Array, headers: Uint8Array, size: number, trailers: Uint8Array): boolean;
  /** Gives up what `reserve` made room for. */
  dropReservation(reserved: Uint8Array): void;
  sendHeaders(block: Uint8Array, isLast: boolean): void;
  /** Queues content. The bytes must not change afterwards. */
  sendData(bytes: Uint8Array): void;
  /** Queues the last content of a response without trailers. */
  sendLastData(bytes: Uint8Array): void;
  /** Ends the response, behind the data that is queued. */
  sendTrailers(block: Uint8Array): void;
  /** Whether too many bytes of responses wait already on the connection, or on the server. */
  isQueueFull(): boolean;
  /** Resolves when there is room for more content; undefined when there is room now. */
  whenRoomy(): Promise<void> | undefined;
  /** Rejects what waits for room. */
  rejectWaiting(error: Error): void;
  /** Drops the content that is queued. */
  dropQueued(): void;
  /** Counts bytes that will be queued later, or are no more. */
  countQueued(change: number): void;
  /** A stream error (RFC 9113 section 5.4.2). */
  reset(code: ErrorCode): void;
}
