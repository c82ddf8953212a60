/** The interface between the HTTP/2 layer and the layer above. HTTP/2 emits headers, data, end and reset. */
import type { ErrorCode } from "../frames/constants.ts";
import type { Peer } from "./peer.ts";
import type { ReadClock, ReadTime } from "./read-clock.ts";
import type { RequestHead } from "./request-head.ts";
import type { Sender } from "./sender.ts";

/** The events of one connection. The layer above creates one object for each connection. */
export interface ConnectionEvents {
  /**
   * A request's headers arrived. The layer above must first call `stream.attach`, or reset the stream.
   * @param ended whether the request has no body
   */
  onRequest(stream: ServerStream, head: RequestHead, ended: boolean): void;
  /** A read begins. All responses written before `onReadEnd` leave in one write. */
  onReadBegin(): void;
  onReadEnd(): void;
}

/** The events of one stream. */
export interface StreamEvents {
  /**
   * The content of a DATA frame arrived, `bytes[start, end)`. The bytes are valid during this call only.
   * @param ended whether the request is complete
   */
  onData(bytes: Buffer, start: number, end: number, ended: boolean): void;
  /** The request is complete. Trailers ended it. */
  onEnd(): void;
  /** The stream ended early: one side reset it, or the connection was lost. The stream can send nothing more. */
  onReset(): void;
  /** Called at intervals while the request is incomplete, to check time-outs. */
  onSweep(now: number): void;
}

/** The connection of a stream, as the layer above uses it. */
export interface StreamConnection {
  readonly peer: Peer;
  readonly clock: Readonly<Pick<ReadClock, "read" | "now">>;
  readonly sender: Pick<Sender, "isQueueFull" | "countQueued">;
}

/** A stream, as the layer above uses it. */
export interface ServerStream {
  readonly id: number;
  readonly connection: StreamConnection;
  /** The time when the headers arrived. */
  readonly received: ReadTime;

  attach(events: StreamEvents): void;
  /** Restores the stream's receive window. While the layer above holds the data, it does not call this, and the peer waits. */
  returnWindow(): void;
  /** Keeps the stream's slot of `maxConcurrentStreams` until `release`, even after the stream has closed. */
  retain(): void;
  release(): void;

  /**
   * Makes room for a whole response: headers, one DATA frame of at most `maxBytes`, and trailers. `headers` and `trailers`
   * are whole HEADERS frames for stream 0. Returns the buffer for the content, which begins at `reservedAt`.
   */
  reserve(headers: Uint8Array, maxBytes: number, trailers: Uint8Array): Buffer;
  /** The position of the content. Valid directly after `reserve`. */
  readonly reservedAt: number;
  /**
   * Sends the response in the buffer `reserved` with `size` bytes of content. Returns false and sends nothing when the
   * reservation has ended or the content does not fit the windows.
   */
  commit(reserved: Uint8Array, headers: Uint8Array, size: number, trailers: Uint8Array): boolean;
  /** Ends the reservation of `reserve`. */
  dropReservation(reserved: Uint8Array): void;
  sendHeaders(block: Uint8Array, isLast: boolean): void;
  /** Queues content. The bytes must not change afterwards. */
  sendData(bytes: Uint8Array): void;
  /** Queues the last content of a response without trailers. */
  sendLastData(bytes: Uint8Array): void;
  /** Ends the response after all queued data. */
  sendTrailers(block: Uint8Array): void;
  /** Resolves when there is room for more content; undefined when there is room now. */
  whenRoomy(): Promise<void> | undefined;
  /** Rejects the promises of `whenRoomy`. */
  rejectWaiting(error: Error): void;
  /** Drops the queued content. */
  dropQueued(): void;
  /** Ends the stream with an error (RFC 9113 section 5.4.2). */
  reset(code: ErrorCode): void;
}
