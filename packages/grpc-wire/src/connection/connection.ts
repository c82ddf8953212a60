import type { Socket } from "node:net";
import type { PeerCertificate, TLSSocket } from "node:tls";
import {
  DEFAULT_WINDOW,
  ErrorCode,
  errorName,
  Flag,
  FRAME_HEADER_BYTES,
  FrameType,
  MAX_FRAME_BYTES,
  MAX_WINDOW,
} from "../frames/constants.ts";
import { FrameReader, type FrameSink } from "../frames/reader.ts";
import { readUint32, writeFrameHeader, writeUint32 } from "../frames/write.ts";
import { Allowance, Closed, ResetStreams } from "./guard.ts";
import { HeaderBlocks } from "./header-blocks.ts";
import type { Host } from "./host.ts";
import { Lifecycle } from "./lifecycle.ts";
import { Output } from "./output.ts";
import { openRequest, receiveData, receiveTrailers } from "./requests.ts";
import { pumpOnce } from "./responses.ts";
import { SendQueue } from "./send-queue.ts";
import { applySettings, initialFrames } from "./settings.ts";
import type { Stream } from "./stream.ts";
import { StreamTable } from "./stream-table.ts";

/** What `onFrame` returns to read no more. */
const STOP = -1;

/** A header block whose CONTINUATION frames are still to come. */
interface OpenBlock {
  readonly id: number;
  readonly ended: boolean;
  readonly selfDependent: boolean;
  parts: Buffer[];
  bytes: number;
  continuations: number;
}

/** One HTTP/2 connection, server side (RFC 9113): reads frames, keeps both flow-control windows, writes frames. */
export class Connection implements FrameSink {
  readonly host: Host;
  readonly socket: Socket;
  readonly output: Output;
  readonly headers: HeaderBlocks;
  readonly streams = new StreamTable<Stream>();
  readonly lifecycle: Lifecycle;
  /** Wall clock in milliseconds at the start of the current read: one look for all its frames. */
  now: number;
  /** The peer's windows: what may be sent. */
  sendWindow = DEFAULT_WINDOW;
  peerStreamWindow = DEFAULT_WINDOW;
  /** The peer made the header table smaller, which the next header block has to acknowledge. */
  mustSignalTableSize = false;
  encoderTableSize = 4096;
  lastStreamId = 0;
  /** Calls answered since the start. */
  answered = 0;
  /** Bytes of unfinished requests, and of answers that wait for a window. */
  bufferedBytes = 0;
  queuedBytes = 0;
  /** Handlers whose stream is gone. */
  orphans = 0;
  readonly #reader: FrameReader;
  readonly #resets: Allowance;
  readonly #idleFrames: Allowance;
  readonly #resetStreams = new ResetStreams();
  /** Streams with bytes to send and a window to send them in. */
  readonly #ready = new Set<Stream>();
  #receiveWindow: number;
  #block: OpenBlock | undefined;
  /** The client's ids left some out: a lower id may never have been used. */
  #skippedIds = false;
  #settingsSeen = false;
  #isDead = false;
  #isPaused = false;
  #discarded = 0;

  constructor(host: Host, socket: Socket, isTls: boolean) {
    this.host = host;
    this.socket = socket;
    this.now = Date.now();
    const { limits } = host;
    this.output = new Output(socket, isTls);
    this.headers = new HeaderBlocks(host.subtypes, limits.maxHeaderListBytes, limits.headerBlockCacheEntries);
    this.#reader = new FrameReader(this);
    this.#resets = new Allowance(limits.resetBurst, limits.resetsPerSecond, this.now);
    this.#idleFrames = new Allowance(limits.idleFrameBurst, limits.idleFramesPerSecond, this.now);
    this.#receiveWindow = limits.connectionWindowBytes;
    this.lifecycle = new Lifecycle(this);
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#onData(chunk));
    socket.on("drain", () => this.#onDrain());
    socket.on("end", () => socket.end());
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#onClose());
  }

  get peer(): string {
    const { remoteAddress, remotePort, remoteFamily } = this.socket;
    if (remoteAddress === undefined) return "unix:";
    return remoteFamily === "IPv6" ? `[${remoteAddress}]:${remotePort}` : `${remoteAddress}:${remotePort}`;
  }

  get peerCertificate(): PeerCertificate | undefined {
    if (!("getPeerCertificate" in this.socket)) return undefined;
    const certificate = (this.socket as TLSSocket).getPeerCertificate();
    return Object.keys(certificate ?? {}).length === 0 ? undefined : certificate;
  }

  /** Calls that count against the limit. */
  get runningCalls(): number {
    return this.streams.size + this.orphans;
  }

  get isMidRequest(): boolean {
    return this.#reader.isMidFrame || this.#block !== undefined;
  }

  get hasSettings(): boolean {
    return this.#settingsSeen;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  // Reading

  #onData(chunk: Buffer): void {
    if (this.#isDead) {
      this.#discard(chunk.length);
      return;
    }
    this.now = Date.now();
    this.lifecycle.lastReceivedAt = this.now;
    this.output.corked = true;
    try {
      this.#reader.read(chunk);
    } catch (error) {
      // A fault of ours, or of an observer: this connection ends, the process does not.
      this.host.onHandlerError?.(error, "");
      this.fail(ErrorCode.INTERNAL_ERROR, "internal error");
    }
    if (this.#ready.size > 0) this.#pump();
    this.output.corked = false;
    this.output.flush();
    if (this.output.isFull && !this.#isPaused && !this.#isDead) {
      // The peer does not read what it asks for: no more is read from it until it does.
      this.#isPaused = true;
      this.socket.pause();
    }
  }

  /**
   * After our last word what was under way is read and dropped, so that closing does not turn into a TCP reset
   * that overtakes the GOAWAY. More than a window cannot have been under way.
   */
  #discard(size: number): void {
    this.#discarded += size;
    if (this.#discarded > this.host.limits.connectionWindowBytes) this.destroy();
  }

  #onDrain(): void {
    this.now = Date.now();
    this.#pump();
    if (this.#isPaused && !this.output.isFull) {
      this.#isPaused = false;
      this.socket.resume();
    }
  }

  /** Our own preface waits for the client's, so that whoever speaks HTTP/1.1 can be told so. */
  onPreface(): void {
    this.output.write(initialFrames(this.host.limits));
  }

  onBadPreface(received: Buffer): void {
    const isHttp1 = /^[A-Z]{3,7} \S* HTTP\/1\./.test(received.toString("latin1", 0, 1024));
    if (isHttp1) this.output.write(http1Refusal);
    this.fail(ErrorCode.PROTOCOL_ERROR, "the connection does not start with the HTTP/2 preface", isHttp1);
  }

  onOversizedFrame(length: number): void {
    this.fail(ErrorCode.FRAME_SIZE_ERROR, `a frame of ${length} bytes is larger than ${MAX_FRAME_BYTES}`);
  }

  onFrame(bytes: Buffer, at: number, next: number, limit: number): number {
    const type = bytes[at + 3]!;
    const flags = bytes[at + 4]!;
    const id = readUint32(bytes, at + 5) & MAX_WINDOW;
    const start = at + FRAME_HEADER_BYTES;
    if (this.#block !== undefined && (type !== FrameType.CONTINUATION || id !== this.#block.id))
      return this.#protocolError("a header block was not continued");
    if (!this.#settingsSeen && (type !== FrameType.SETTINGS || flags & Flag.ACK))
      return this.#protocolError("the first frame is not SETTINGS");
    switch (type) {
      case FrameType.DATA:
        return this.#onDataFrame(bytes, start, next, limit, flags, id);
      case FrameType.HEADERS:
        return this.#onHeaders(bytes, start, next, flags, id);
      case FrameType.CONTINUATION:
        return this.#onContinuation(bytes, start, next, flags);
      case FrameType.PRIORITY:
        return this.#onPriority(bytes, start, next, id);
      case FrameType.RST_STREAM:
        return this.#onReset(bytes, start, next, id);
      case FrameType.SETTINGS:
        return this.#onSettings(bytes, start, next, flags, id);
      case FrameType.PING:
        return this.#onPing(bytes, start, next, flags, id);
      case FrameType.GOAWAY:
        if (id !== 0) return this.#protocolError("GOAWAY on a stream");
        return next - start < 8 ? this.#frameSizeError("GOAWAY") : this.#idle(next);
      case FrameType.WINDOW_UPDATE:
        return this.#onWindowUpdate(bytes, start, next, id);
      case FrameType.PUSH_PROMISE:
        return this.#protocolError("a client may not push");
      default:
        return this.#idle(next);
    }
  }

  #onHeaders(bytes: Buffer, start: number, next: number, flags: number, id: number): number {
    if ((id & 1) === 0) return this.#protocolError("HEADERS on a stream that a client cannot open");
    let end = next;
    let from = start;
    if (flags & Flag.PADDED) {
      if (from >= end) return this.#frameSizeError("HEADERS");
      end -= bytes[from]!;
      from += 1;
    }
    let selfDependent = false;
    if (flags & Flag.PRIORITY) {
      if (next - from < 5) return this.#frameSizeError("HEADERS");
      selfDependent = (readUint32(bytes, from) & MAX_WINDOW) === id;
      from += 5;
    }
    if (from > end) return this.#protocolError("HEADERS with more padding than content");
    const ended = (flags & Flag.END_STREAM) !== 0;
    if (flags & Flag.END_HEADERS)
      return this.#onBlock(bytes, from, end, id, ended, selfDependent) ? next : STOP;
    const part = Buffer.from(bytes.subarray(from, end));
    this.#block = { id, ended, selfDependent, parts: [part], bytes: part.length, continuations: 0 };
    return next;
  }

  #onContinuation(bytes: Buffer, start: number, next: number, flags: number): number {
    const block = this.#block;
    if (block === undefined) return this.#protocolError("CONTINUATION without a header block");
    const { limits } = this.host;
    block.continuations += 1;
    block.bytes += next - start;
    if (block.continuations > limits.maxContinuationFrames || block.bytes > limits.maxHeaderBlockBytes)
      return this.#calm("a header block is too long");
    block.parts.push(Buffer.from(bytes.subarray(start, next)));
    if (!(flags & Flag.END_HEADERS)) return next;
    this.#block = undefined;
    const whole = Buffer.concat(block.parts);
    return this.#onBlock(whole, 0, whole.length, block.id, block.ended, block.selfDependent) ? next : STOP;
  }

  /** A whole header block. False where the connection ends. */
  #onBlock(
    bytes: Buffer,
    start: number,
    end: number,
    id: number,
    ended: boolean,
    selfDependent: boolean,
  ): boolean {
    const stream = this.streams.get(id);
    if (stream === undefined && id > this.lastStreamId) {
      if (id > this.lastStreamId + 2) this.#skippedIds = true;
      const head = this.headers.readRequest(bytes, start, end);
      if (head === undefined) return this.#compressionError();
      if (id > this.lifecycle.lastAcceptedId) return true;
      this.lastStreamId = id;
      if (selfDependent) this.resetStream(id, ErrorCode.PROTOCOL_ERROR);
      else openRequest(this, id, head, ended);
      return !this.#isDead;
    }
    const fields = this.headers.readFields(bytes, start, end);
    if (fields === undefined) return this.#compressionError();
    if (stream !== undefined) receiveTrailers(stream, fields, ended && !selfDependent);
    else if (this.#resetStreams.lookup(id) === Closed.UNKNOWN) {
      const wasOpen = id === this.lastStreamId || !this.#skippedIds;
      this.fail(
        wasOpen ? ErrorCode.STREAM_CLOSED : ErrorCode.PROTOCOL_ERROR,
        `HEADERS on the closed stream ${id}`,
      );
    } else if (this.#resetStreams.lookup(id) === Closed.BY_PEER)
      this.resetStream(id, ErrorCode.STREAM_CLOSED);
    return !this.#isDead;
  }

  #onDataFrame(bytes: Buffer, start: number, next: number, limit: number, flags: number, id: number): number {
    if (id === 0) return this.#protocolError("DATA on stream 0");
    const size = next - start;
    this.#receiveWindow -= size;
    const { connectionWindowBytes } = this.host.limits;
    if (this.#receiveWindow < 0) {
      this.fail(ErrorCode.FLOW_CONTROL_ERROR, "the connection's window is overrun");
      return STOP;
    }
    if (this.#receiveWindow < connectionWindowBytes >>> 1) {
      this.#sendWindowUpdate(0, connectionWindowBytes - this.#receiveWindow);
      this.#receiveWindow = connectionWindowBytes;
    }
    let from = start;
    let end = next;
    if (flags & Flag.PADDED) {
      if (size < 1) return this.#frameSizeError("DATA");
      end -= bytes[from]!;
      from += 1;
      if (from > end) return this.#protocolError("DATA with more padding than content");
    }
    const ended = (flags & Flag.END_STREAM) !== 0;
    if (from === end && !ended && !this.#idleFrames.spend(this.now, this.answered))
      return this.#calm("too many empty DATA frames");
    const stream = this.streams.get(id);
    if (stream === undefined) return this.#onStray(id, next, "DATA");
    if (stream.remoteClosed) {
      stream.cancel();
      this.resetStream(id, ErrorCode.STREAM_CLOSED);
      return this.#isDead ? STOP : next;
    }
    stream.receiveWindow -= size;
    if (stream.receiveWindow < 0) {
      stream.cancel();
      this.resetStream(id, ErrorCode.FLOW_CONTROL_ERROR);
      return this.#isDead ? STOP : next;
    }
    const after = receiveData(stream, bytes, from, end, ended, next, limit);
    return this.#isDead ? STOP : after;
  }

  /** DATA or the like on a stream that is not open. */
  #onStray(id: number, next: number, what: string): number {
    if (id > this.lastStreamId)
      return id > this.lifecycle.lastAcceptedId
        ? next
        : this.#protocolError(`${what} on the idle stream ${id}`);
    const how = this.#resetStreams.lookup(id);
    if (how === Closed.BY_US) return next;
    if (how === Closed.BY_PEER) {
      this.resetStream(id, ErrorCode.STREAM_CLOSED);
      return this.#isDead ? STOP : next;
    }
    this.fail(ErrorCode.STREAM_CLOSED, `${what} on the closed stream ${id}`);
    return STOP;
  }

  #onPriority(bytes: Buffer, start: number, next: number, id: number): number {
    if (id === 0) return this.#protocolError("PRIORITY on stream 0");
    const stream = this.streams.get(id);
    const isSelf = next - start === 5 && (readUint32(bytes, start) & MAX_WINDOW) === id;
    if (next - start !== 5 || isSelf) {
      stream?.cancel();
      this.resetStream(id, isSelf ? ErrorCode.PROTOCOL_ERROR : ErrorCode.FRAME_SIZE_ERROR);
      return this.#isDead ? STOP : next;
    }
    return this.#idle(next);
  }

  #onReset(bytes: Buffer, start: number, next: number, id: number): number {
    if (id === 0) return this.#protocolError("RST_STREAM on stream 0");
    if (next - start !== 4) return this.#frameSizeError("RST_STREAM");
    void bytes;
    if (id > this.lastStreamId)
      return id > this.lifecycle.lastAcceptedId
        ? next
        : this.#protocolError(`RST_STREAM on the idle stream ${id}`);
    const stream = this.streams.get(id);
    if (stream !== undefined) {
      stream.cancel();
      this.closeStream(stream);
      this.#resetStreams.add(id, Closed.BY_PEER);
    }
    return this.#resets.spend(this.now, this.answered) ? next : this.#calm("too many streams are reset");
  }

  #onSettings(bytes: Buffer, start: number, next: number, flags: number, id: number): number {
    if (id !== 0) return this.#protocolError("SETTINGS on a stream");
    if (flags & Flag.ACK) return next - start === 0 ? this.#idle(next) : this.#frameSizeError("SETTINGS");
    if ((next - start) % 6 !== 0) return this.#frameSizeError("SETTINGS");
    const fault = applySettings(this, bytes, start, next);
    if (fault !== undefined) {
      this.fail(fault.code, fault.message);
      return STOP;
    }
    this.#settingsSeen = true;
    const out = this.output.room(FRAME_HEADER_BYTES);
    this.output.length = writeFrameHeader(out, this.output.length, 0, FrameType.SETTINGS, Flag.ACK, 0);
    return this.#idle(next);
  }

  #onPing(bytes: Buffer, start: number, next: number, flags: number, id: number): number {
    if (id !== 0) return this.#protocolError("PING on a stream");
    if (next - start !== 8) return this.#frameSizeError("PING");
    if (flags & Flag.ACK) {
      this.lifecycle.onPingAck(bytes, start);
      return this.#isDead ? STOP : this.#idle(next);
    }
    if (!this.lifecycle.isPingWelcome()) return this.#calm("too_many_pings");
    this.sendPing(Flag.ACK, bytes.subarray(start, next));
    return next;
  }

  #onWindowUpdate(bytes: Buffer, start: number, next: number, id: number): number {
    if (next - start !== 4) return this.#frameSizeError("WINDOW_UPDATE");
    const increment = readUint32(bytes, start) & MAX_WINDOW;
    if (id === 0) {
      if (increment === 0) return this.#protocolError("WINDOW_UPDATE of 0");
      if (this.sendWindow + increment > MAX_WINDOW) {
        this.fail(ErrorCode.FLOW_CONTROL_ERROR, "the connection's window is larger than 2^31-1");
        return STOP;
      }
      this.sendWindow += increment;
      return next;
    }
    const stream = this.streams.get(id);
    if (stream === undefined)
      return id > this.lastStreamId && id <= this.lifecycle.lastAcceptedId
        ? this.#protocolError(`WINDOW_UPDATE on the idle stream ${id}`)
        : next;
    if (increment === 0 || stream.sendWindow + increment > MAX_WINDOW) {
      stream.cancel();
      this.resetStream(id, increment === 0 ? ErrorCode.PROTOCOL_ERROR : ErrorCode.FLOW_CONTROL_ERROR);
      return this.#isDead ? STOP : next;
    }
    stream.sendWindow += increment;
    if (stream.queue !== undefined && stream.queue.bytes > 0) this.#ready.add(stream);
    return next;
  }

  /** A frame that carries no work: let pass while there are not too many. */
  #idle(next: number): number {
    return this.#idleFrames.spend(this.now, this.answered)
      ? next
      : this.#calm("too many frames without work");
  }

  // Writing

  /** Sends what waits on `stream` as the windows allow, at the end of this read or turn. */
  pumpLater(stream: Stream): void {
    this.#ready.add(stream);
    if (!this.output.corked) this.#pump();
  }

  /** A plain HTTP body, after its headers. */
  sendPlain(stream: Stream, body: Uint8Array): void {
    stream.queue = new SendQueue(this.now, (change) => this.countQueued(change));
    stream.queue.push(body);
    stream.queue.endsWithData = true;
    this.pumpLater(stream);
  }

  countQueued(change: number): void {
    this.queuedBytes += change;
    this.host.queuedBytes += change;
  }

  #pump(): void {
    for (const stream of this.#ready) {
      if (this.output.isFull) return;
      this.#ready.delete(stream);
      // What still has something to say goes to the end of the line.
      if (pumpOnce(this, stream)) {
        this.#ready.add(stream);
        if (this.sendWindow <= 0) return;
      }
    }
  }

  /** SETTINGS_INITIAL_WINDOW_SIZE changed by `change` (RFC 9113 section 6.9.2). False where a window overflows. */
  shiftStreamWindows(change: number): boolean {
    for (const stream of this.streams.list()) {
      stream.sendWindow += change;
      if (stream.sendWindow > MAX_WINDOW) return false;
      if (stream.sendWindow > 0 && stream.queue !== undefined && stream.queue.bytes > 0)
        this.#ready.add(stream);
    }
    return true;
  }

  /** Gives back what the stream's peer sent and nobody holds any more. */
  returnStreamWindow(stream: Stream): void {
    if (stream.remoteClosed || stream.finished) return;
    if (stream.inbound !== undefined && stream.inbound.count > 0) return;
    const { streamWindowBytes } = this.host.limits;
    if (stream.receiveWindow >= streamWindowBytes >>> 1) return;
    this.#sendWindowUpdate(stream.id, streamWindowBytes - stream.receiveWindow);
    stream.receiveWindow = streamWindowBytes;
  }

  #sendWindowUpdate(id: number, increment: number): void {
    const out = this.output.room(FRAME_HEADER_BYTES + 4);
    const at = writeFrameHeader(out, this.output.length, 4, FrameType.WINDOW_UPDATE, 0, id);
    this.output.length = writeUint32(out, at, increment);
  }

  sendPing(flags: number, payload: Uint8Array): void {
    const out = this.output.room(FRAME_HEADER_BYTES + 8);
    const at = writeFrameHeader(out, this.output.length, 8, FrameType.PING, flags, 0);
    out.set(payload, at);
    this.output.length = at + 8;
  }

  sendGoaway(lastId: number, code: number, message: string): void {
    const text = Buffer.from(message, "utf8");
    const out = this.output.room(FRAME_HEADER_BYTES + 8 + text.length);
    let at = writeFrameHeader(out, this.output.length, 8 + text.length, FrameType.GOAWAY, 0, 0);
    at = writeUint32(out, at, lastId);
    at = writeUint32(out, at, code);
    out.set(text, at);
    this.output.length = at + text.length;
  }

  sendReset(id: number, code: number): void {
    const out = this.output.room(FRAME_HEADER_BYTES + 4);
    const at = writeFrameHeader(out, this.output.length, 4, FrameType.RST_STREAM, 0, id);
    this.output.length = writeUint32(out, at, code);
    this.#resetStreams.add(id, Closed.BY_US);
  }

  /** A stream error (RFC 9113 section 5.4.2). The resets that a peer provokes are counted like its own. */
  resetStream(id: number, code: number): void {
    const stream = this.streams.get(id);
    if (stream !== undefined) {
      stream.cancel();
      this.closeStream(stream);
    }
    this.sendReset(id, code);
    if (!this.#resets.spend(this.now, this.answered)) this.#calm("too many streams have to be reset");
  }

  /** The stream is over, both ways. */
  closeStream(stream: Stream): void {
    this.streams.delete(stream);
    if (stream.inbound !== undefined) stream.inbound.release();
    if (stream.queue !== undefined) {
      stream.queue.drop();
      this.#ready.delete(stream);
    }
    if (stream.handlerRuns && !stream.isOrphan) {
      stream.isOrphan = true;
      this.orphans += 1;
    }
    if (this.streams.size === 0) this.lifecycle.onNoStreams();
  }

  // Ending

  #protocolError(message: string): number {
    this.fail(ErrorCode.PROTOCOL_ERROR, message);
    return STOP;
  }

  #frameSizeError(what: string): number {
    this.fail(ErrorCode.FRAME_SIZE_ERROR, `${what} has a length that it cannot have`);
    return STOP;
  }

  #calm(message: string): number {
    this.fail(ErrorCode.ENHANCE_YOUR_CALM, message);
    return STOP;
  }

  #compressionError(): false {
    this.fail(ErrorCode.COMPRESSION_ERROR, "a header block cannot be decoded");
    return false;
  }

  /** A connection error (RFC 9113 section 5.4.1): GOAWAY, and nothing after it. */
  fail(code: ErrorCode, message: string, silently = false): void {
    if (this.#isDead) return;
    this.host.connectionErrors += 1;
    this.host.onConnectionError?.({ peer: this.peer, code: errorName(code), message });
    this.#cancelAll();
    if (!silently) this.sendGoaway(this.lastStreamId, code, message);
    this.end();
  }

  /** Says no more: sends what is written, then closes. A peer that does not follow is cut off by the sweep. */
  end(): void {
    if (this.#isDead) return;
    this.#isDead = true;
    this.#reader.stop();
    this.lifecycle.onEnding();
    this.output.flush();
    this.socket.end();
    if (this.#isPaused) this.socket.resume();
  }

  /** Cuts the connection off. */
  destroy(): void {
    this.#isDead = true;
    this.output.close();
    this.socket.destroy();
    this.#cancelAll();
  }

  #cancelAll(): void {
    for (const stream of this.streams.list()) {
      stream.cancel();
      this.closeStream(stream);
    }
  }

  #onClose(): void {
    this.#isDead = true;
    this.#reader.stop();
    this.output.close();
    this.#cancelAll();
    this.host.onConnectionClosed(this);
  }
}

const http1Text = "This server speaks gRPC over HTTP/2.\n";
const http1Refusal = Buffer.from(
  `HTTP/1.1 505 HTTP Version Not Supported\r\ncontent-type: text/plain\r\ncontent-length: ${http1Text.length}\r\nconnection: close\r\n\r\n${http1Text}`,
  "latin1",
);
