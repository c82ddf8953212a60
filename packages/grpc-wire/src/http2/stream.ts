import {
  ErrorCode,
  FRAME_HEADER_BYTES,
  FrameType,
  MAX_FRAME_BYTES,
  MAX_WINDOW,
} from "../frames/constants.ts";
import { writeFrameHeader, writeTemplate } from "../frames/write.ts";
import type { HeaderField } from "../hpack/field.ts";
import type { ServerStream, StreamEvents } from "./interface.ts";
import type { Peer } from "./peer.ts";
import type { ReadClock, ReadTime } from "./read-clock.ts";
import { areValidTrailers } from "./request-head.ts";
import { SendQueue } from "./send-queue.ts";
import type { Sendable } from "./send-schedule.ts";
import type { Sender } from "./sender.ts";

/** A full output still takes content up to this size. The requests of one read are about as long as their responses. */
const SMALL_BYTES = 256;

const noEvents: StreamEvents = { onData() {}, onEnd() {}, onReset() {}, onSweep() {} };

/** The dependencies of a stream on its connection. */
export interface StreamDependencies {
  readonly peer: Peer;
  readonly clock: ReadClock;
  readonly sender: Sender;
  readonly receiveWindowBytes: number;
  /** Sends RST_STREAM and counts it as the peer's. */
  resetStream(id: number, code: ErrorCode): void;
  /** The stream is closed. `mustReset`: the peer has not ended its side. */
  onClosed(stream: Stream, mustReset: boolean): void;
  /** Its slot of `maxConcurrentStreams` is free. */
  onReleased(): void;
}

/** One stream (RFC 9113 section 5): its windows, its state and its queued content. */
export class Stream implements ServerStream, Sendable {
  readonly id: number;
  readonly received: ReadTime;
  readonly connection: StreamDependencies;
  readonly #contentLength: number;
  #events: StreamEvents = noEvents;
  #sendWindow: number;
  #receiveWindow: number;
  /** Received bytes of content, to compare with content-length. */
  #bodyBytes = 0;
  /** The peer's END_STREAM has arrived. */
  #isRemoteClosed = false;
  /** The response's end is known, and may be queued. */
  #isEnding = false;
  /** Both sides have ended, or the stream was reset. */
  #isClosed = false;
  /** A handler keeps the slot of `maxConcurrentStreams`. */
  #isRetained = false;
  #queue: SendQueue | undefined;

  constructor(
    deps: StreamDependencies,
    id: number,
    sendWindow: number,
    contentLength: number,
    ended: boolean,
  ) {
    this.id = id;
    this.received = deps.clock.read;
    this.connection = deps;
    this.#contentLength = contentLength;
    this.#sendWindow = sendWindow;
    this.#receiveWindow = deps.receiveWindowBytes;
    this.#isRemoteClosed = ended;
  }

  attach(events: StreamEvents): void {
    this.#events = events;
  }

  // Receiving

  /** Handles a DATA frame of `size` bytes with the content `bytes[start, end)`. */
  onData(bytes: Buffer, start: number, end: number, size: number, ended: boolean): void {
    this.#receiveWindow -= size;
    if (this.#isRemoteClosed) this.reset(ErrorCode.STREAM_CLOSED);
    else if (this.#receiveWindow < 0) this.reset(ErrorCode.FLOW_CONTROL_ERROR);
    else {
      this.#bodyBytes += end - start;
      if (!ended || this.endRequest()) this.#events.onData(bytes, start, end, ended);
    }
  }

  /** Handles a trailer section. It must end the request (RFC 9113 section 8.1). */
  onTrailers(fields: readonly HeaderField[], ended: boolean): void {
    if (this.#isRemoteClosed) this.reset(ErrorCode.STREAM_CLOSED);
    else if (!ended || !areValidTrailers(fields)) this.reset(ErrorCode.PROTOCOL_ERROR);
    else if (this.endRequest()) this.#events.onEnd();
  }

  /** Returns false and resets the stream when the content's length differs from content-length. */
  private endRequest(): boolean {
    this.#isRemoteClosed = true;
    if (this.#contentLength < 0 || this.#contentLength === this.#bodyBytes || this.#isEnding) return true;
    this.reset(ErrorCode.PROTOCOL_ERROR);
    return false;
  }

  /** Whether the stream waits for DATA. */
  get isReceiving(): boolean {
    return !this.#isRemoteClosed && !this.#isEnding;
  }

  returnWindow(): void {
    if (this.#isRemoteClosed || this.#isEnding) return;
    const { receiveWindowBytes, sender } = this.connection;
    if (this.#receiveWindow >= receiveWindowBytes >>> 1) return;
    sender.writeWindowUpdate(this.id, receiveWindowBytes - this.#receiveWindow);
    this.#receiveWindow = receiveWindowBytes;
  }

  onSweep(now: number, sendTimeoutMs: number): void {
    const queue = this.#queue;
    if (queue !== undefined && queue.bytes > 0) {
      if (sendTimeoutMs > 0 && now - queue.movedAt >= sendTimeoutMs) this.reset(ErrorCode.CANCEL);
    } else if (this.isReceiving) this.#events.onSweep(now);
  }

  // The slot

  retain(): void {
    if (!this.#isClosed) this.#isRetained = true;
  }

  release(): void {
    if (!this.#isRetained) return;
    this.#isRetained = false;
    if (this.#isClosed) this.connection.onReleased();
  }

  // Sending

  reserve(headers: Uint8Array, maxBytes: number, trailers: Uint8Array): Buffer {
    const before = headers.length + FRAME_HEADER_BYTES;
    return this.connection.sender.output.reserve(before + maxBytes + trailers.length, before);
  }

  get reservedAt(): number {
    return this.connection.sender.output.reservedAt;
  }

  commit(reserved: Uint8Array, headers: Uint8Array, size: number, trailers: Uint8Array): boolean {
    const { sender } = this.connection;
    const { output } = sender;
    if (
      !output.cancelReservation(reserved) ||
      this.#isClosed ||
      size > MAX_FRAME_BYTES ||
      size > this.#sendWindow ||
      size > sender.window ||
      (size > SMALL_BYTES && output.isFull) ||
      sender.mustSignalTableSize
    )
      return false;
    const out = output.bytes;
    const at = writeTemplate(out, output.length, headers, this.id);
    const content = writeFrameHeader(out, at, size, FrameType.DATA, 0, this.id);
    output.length = writeTemplate(out, content + size, trailers, this.id);
    this.#sendWindow -= size;
    sender.window -= size;
    sender.answered += 1;
    this.endLocal();
    return true;
  }

  dropReservation(reserved: Uint8Array): void {
    this.connection.sender.output.cancelReservation(reserved);
  }

  sendHeaders(block: Uint8Array, isLast: boolean): void {
    if (this.#isClosed) return;
    this.connection.sender.writeHeaders(this.id, block, isLast);
    if (isLast) this.endLocal();
  }

  sendData(bytes: Uint8Array): void {
    if (this.#isClosed) return;
    this.pushed(bytes);
    this.connection.sender.schedule(this);
  }

  sendLastData(bytes: Uint8Array): void {
    if (this.#isClosed) return;
    this.#isEnding = true;
    this.pushed(bytes).endWithData();
    this.connection.sender.schedule(this);
  }

  sendTrailers(block: Uint8Array): void {
    if (this.#isClosed) return;
    const { sender } = this.connection;
    sender.answered += 1;
    this.#isEnding = true;
    if (this.#queue !== undefined && this.#queue.bytes > 0) this.#queue.endWithTrailers(block);
    else this.sendHeaders(block, true);
  }

  private pushed(bytes: Uint8Array): SendQueue {
    const { sender, clock } = this.connection;
    this.#queue ??= new SendQueue(clock.now, (change) => sender.countQueued(change));
    this.#queue.push(bytes, clock.now);
    return this.#queue;
  }

  sendFrame(): boolean {
    const { sender, clock } = this.connection;
    const queue = this.#queue!;
    const size = Math.min(queue.bytes, MAX_FRAME_BYTES, this.#sendWindow, sender.window);
    if (size > 0) {
      const at = sender.beginData(this.id, size, queue.endsWithData && size === queue.bytes);
      this.#sendWindow -= size;
      queue.moveTo(sender.output.bytes, at, size, clock.now);
    }
    if (queue.bytes > 0) return this.#sendWindow > 0;
    if (queue.trailers !== undefined) this.sendHeaders(queue.trailers, true);
    else if (queue.endsWithData) this.endLocal();
    return false;
  }

  /** Changes the send window. Returns false when it would exceed 2^31-1. */
  growSendWindow(change: number): boolean {
    if (this.#sendWindow + change > MAX_WINDOW) return false;
    this.#sendWindow += change;
    if (this.#sendWindow > 0 && this.#queue !== undefined && this.#queue.bytes > 0)
      this.connection.sender.scheduleLater(this);
    return true;
  }

  whenRoomy(): Promise<void> | undefined {
    return this.#queue?.whenRoomy();
  }

  rejectWaiting(error: Error): void {
    this.#queue?.rejectWaiting(error);
  }

  dropQueued(): void {
    this.#queue?.drop();
  }

  // The end

  reset(code: ErrorCode): void {
    if (!this.#isClosed) this.connection.resetStream(this.id, code);
  }

  /** Ends the stream early, without a response. */
  cancel(): void {
    if (this.#isClosed) return;
    this.close(false);
    this.#events.onReset();
  }

  /** Ends the server's side. When the peer has not ended its side, RST_STREAM with NO_ERROR stops it (RFC 9113 section 8.1). */
  private endLocal(): void {
    this.#isEnding = true;
    this.close(!this.#isRemoteClosed);
  }

  private close(mustReset: boolean): void {
    this.#isClosed = true;
    if (this.#queue !== undefined) {
      this.#queue.drop();
      this.connection.sender.unschedule(this);
    }
    if (!this.#isRetained) this.connection.onReleased();
    this.connection.onClosed(this, mustReset);
  }
}
