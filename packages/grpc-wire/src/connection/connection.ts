import type { Socket } from "node:net";
import type { PeerCertificate, TLSSocket } from "node:tls";
import { DEFAULT_WINDOW, ErrorCode, errorName, MAX_FRAME_BYTES } from "../frames/constants.ts";
import { FrameReader, type FrameSink, STOP } from "../frames/reader.ts";
import { writeGoaway, writeReset, writeWindowUpdate } from "./control-writer.ts";
import { EndedCalls, type ReadTime } from "./ended-calls.ts";
import { Allowance, Closed, ResetStreams } from "./guard.ts";
import { HeaderBlocks } from "./header-blocks.ts";
import type { Host } from "./host.ts";
import { http1Refusal, isHttp1 } from "./http1.ts";
import { Lifecycle } from "./lifecycle.ts";
import { Output } from "./output.ts";
import { type OpenBlock, receiveFrame } from "./receive.ts";
import { SendQueue } from "./send-queue.ts";
import { SendSchedule } from "./send-schedule.ts";
import { initialFrames } from "./settings.ts";
import type { Stream } from "./stream.ts";
import { StreamTable } from "./stream-table.ts";

/** One HTTP/2 connection, server side (RFC 9113): reads frames, keeps both flow-control windows, writes frames. */
export class Connection implements FrameSink {
  readonly host: Host;
  readonly socket: Socket;
  /** The caller's address: kept, since a socket forgets it when it closes. */
  readonly peer: string;
  readonly output: Output;
  readonly headers: HeaderBlocks;
  /** Undefined where nobody observes how calls end. */
  readonly ended: EndedCalls | undefined;
  readonly streams = new StreamTable<Stream>();
  readonly lifecycle: Lifecycle;
  /** Monotonic time in milliseconds at the start of the current read: one look for all its frames. */
  now: number;
  /** When the current or last read began. */
  read: ReadTime;
  /** The peer's windows: what may be sent. */
  sendWindow = DEFAULT_WINDOW;
  peerStreamWindow = DEFAULT_WINDOW;
  /** The peer made the header table smaller, which the next header block has to acknowledge. */
  mustSignalTableSize = false;
  encoderTableSize = 4096;
  lastStreamId = 0;
  /** Calls answered since the start. */
  answered = 0;
  /** DATA frames of queued answers sent since the start. */
  dataFramesSent = 0;
  /** Bytes of unfinished requests, and of answers that wait for a window. */
  bufferedBytes = 0;
  queuedBytes = 0;
  /** Handlers whose stream is gone. */
  orphans = 0;
  readonly #reader: FrameReader;
  readonly resets: Allowance;
  readonly idleFrames: Allowance;
  readonly #windowUpdates: Allowance;
  readonly resetStreams = new ResetStreams();
  readonly sending: SendSchedule;
  receiveWindow: number;
  block: OpenBlock | undefined;
  /** The client's ids left some out: a lower id may never have been used. */
  skippedIds = false;
  settingsSeen = false;
  isDead = false;
  #isPaused = false;
  #discarded = 0;

  constructor(host: Host, socket: Socket, isTls: boolean) {
    this.host = host;
    this.socket = socket;
    this.peer = peerOf(socket);
    this.now = host.clock();
    this.read = { wall: Date.now(), monotonic: this.now };
    const { limits } = host;
    this.output = new Output(socket, isTls);
    this.sending = new SendSchedule(this);
    this.headers = new HeaderBlocks(host.subtypes, limits.maxHeaderListBytes, limits.headerBlockCacheEntries);
    this.#reader = new FrameReader(this);
    const { now } = this;
    const idle = { burst: limits.idleFrameBurst, perSecond: limits.idleFramesPerSecond, now };
    this.resets = new Allowance({ burst: limits.resetBurst, perSecond: limits.resetsPerSecond, now });
    this.idleFrames = new Allowance(idle);
    this.#windowUpdates = new Allowance({ ...idle, keepsCredit: true });
    this.receiveWindow = limits.connectionWindowBytes;
    this.lifecycle = new Lifecycle(this);
    this.ended = host.observer?.callFinished === undefined ? undefined : new EndedCalls(host);
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#onData(chunk));
    socket.on("drain", () => this.#onDrain());
    socket.on("end", () => socket.end());
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#onClose());
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
    return this.#reader.isMidFrame || this.block !== undefined;
  }

  // Reading

  #onData(chunk: Buffer): void {
    if (this.isDead) {
      this.#discard(chunk.length);
      return;
    }
    this.now = this.host.clock();
    this.read = { wall: Date.now(), monotonic: this.now };
    this.ended?.beginRead();
    this.lifecycle.lastReceivedAt = this.now;
    this.output.corked = true;
    try {
      this.#reader.read(chunk);
    } catch (error) {
      // A fault of ours, or of an observer: this connection ends, the process does not.
      this.host.onHandlerError?.(error, "");
      this.fail(ErrorCode.INTERNAL_ERROR, "internal error");
    }
    this.sending.pump();
    this.ended?.endRead();
    this.output.corked = false;
    this.output.flush();
    if (this.output.isFull && !this.#isPaused && !this.isDead) {
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
    this.now = this.host.clock();
    this.sending.pump();
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
    const speaksHttp1 = isHttp1(received);
    if (speaksHttp1) this.output.write(http1Refusal);
    this.fail(ErrorCode.PROTOCOL_ERROR, "the connection does not start with the HTTP/2 preface", speaksHttp1);
  }

  onOversizedFrame(length: number): void {
    this.fail(ErrorCode.FRAME_SIZE_ERROR, `a frame of ${length} bytes is larger than ${MAX_FRAME_BYTES}`);
  }

  onFrame(bytes: Buffer, at: number, next: number, limit: number): number {
    return receiveFrame(this, bytes, at, next, limit);
  }

  /** Charges a frame that carries no work. Returns where reading goes on. */
  idle(next: number, what = "frames without work"): number {
    return this.idleFrames.spend(this.now, this.answered) ? next : this.calm(`too many ${what}`);
  }

  /** Charges a WINDOW_UPDATE. Each DATA frame sent pays for ten of them, as many as Envoy allows. */
  spendWindowUpdate(): boolean {
    return this.#windowUpdates.spend(this.now, 10 * (this.answered + this.dataFramesSent));
  }

  // Writing

  /** A plain HTTP body, after its headers. */
  sendPlain(stream: Stream, body: Uint8Array): void {
    stream.queue = new SendQueue(this.now, (change) => this.countQueued(change));
    stream.queue.push(body);
    stream.queue.endsWithData = true;
    this.sending.add(stream);
  }

  /** Bytes of request messages that came to be held, or are no more. */
  countBuffered(change: number): void {
    this.bufferedBytes += change;
    this.host.bufferedBytes += change;
  }

  /** The same of answers. */
  countQueued(change: number): void {
    this.queuedBytes += change;
    this.host.queuedBytes += change;
  }

  /**
   * Whether too many answers wait for a window, after all that can leave has left. Where the server's sum is the
   * reason, a connection on which nothing waits is served all the same: one slow reader must not block the others.
   */
  isQueueFull(): boolean {
    if (this.queuedBytes === 0 || !this.#isAboveQueueLimit) return false;
    this.sending.pump();
    return this.queuedBytes > 0 && this.#isAboveQueueLimit;
  }

  get #isAboveQueueLimit(): boolean {
    const { maxQueuedBytesPerConnection, maxQueuedBytes } = this.host.limits;
    return this.queuedBytes > maxQueuedBytesPerConnection || this.host.queuedBytes > maxQueuedBytes;
  }

  /** Gives back what the stream's peer sent and nobody holds any more. */
  returnStreamWindow(stream: Stream): void {
    if (stream.remoteClosed || stream.finished) return;
    if (stream.inbound !== undefined && stream.inbound.count > 0) return;
    const { streamWindowBytes } = this.host.limits;
    if (stream.receiveWindow >= streamWindowBytes >>> 1) return;
    writeWindowUpdate(this.output, stream.id, streamWindowBytes - stream.receiveWindow);
    stream.receiveWindow = streamWindowBytes;
  }

  /** RST_STREAM; what still comes for the stream is ignored. */
  sendReset(id: number, code: number): void {
    writeReset(this.output, id, code);
    this.resetStreams.add(id, Closed.BY_US);
  }

  /** A stream error (RFC 9113 section 5.4.2). The resets that a peer provokes are counted like its own. */
  resetStream(id: number, code: number): void {
    const stream = this.streams.get(id);
    if (stream !== undefined) {
      stream.cancel();
      this.closeStream(stream);
    }
    this.sendReset(id, code);
    if (!this.resets.spend(this.now, this.answered)) this.calm("too many streams have to be reset");
  }

  /** The stream is over, both ways. */
  closeStream(stream: Stream): void {
    this.streams.delete(stream);
    if (stream.inbound !== undefined) stream.inbound.release();
    if (stream.queue !== undefined) {
      stream.queue.drop();
      this.sending.remove(stream);
    }
    if (stream.handlerRuns && !stream.isOrphan) {
      stream.isOrphan = true;
      this.orphans += 1;
    }
    if (this.streams.size === 0) this.lifecycle.onNoStreams();
  }

  // Ending

  protocolError(message: string): number {
    this.fail(ErrorCode.PROTOCOL_ERROR, message);
    return STOP;
  }

  frameSizeError(what: string): number {
    this.fail(ErrorCode.FRAME_SIZE_ERROR, `${what} has a length that it cannot have`);
    return STOP;
  }

  calm(message: string): number {
    this.fail(ErrorCode.ENHANCE_YOUR_CALM, message);
    return STOP;
  }

  compressionError(): false {
    this.fail(ErrorCode.COMPRESSION_ERROR, "a header block cannot be decoded");
    return false;
  }

  /** A connection error (RFC 9113 section 5.4.1): GOAWAY, and nothing after it. */
  fail(code: ErrorCode, message: string, silently = false): void {
    if (this.isDead) return;
    this.host.connectionErrors += 1;
    this.host.onConnectionError?.({ peer: this.peer, code: errorName(code), message });
    // Before the calls are cancelled: the last of them ends a connection that drains.
    if (!silently) writeGoaway(this.output, this.lastStreamId, code, message);
    this.end(true);
    this.#cancelAll();
  }

  /** Says no more: sends what is written, then closes. A peer that does not follow is cut off by the sweep. */
  end(hasFailed = false): void {
    if (this.isDead) return;
    this.isDead = true;
    this.#reader.stop();
    this.lifecycle.onEnding(hasFailed);
    this.output.flush();
    this.socket.end();
    if (this.#isPaused) this.socket.resume();
  }

  /** Cuts the connection off. */
  destroy(): void {
    this.isDead = true;
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
    this.isDead = true;
    this.#reader.stop();
    this.output.close();
    this.#cancelAll();
    this.host.onConnectionClosed(this);
  }
}

function peerOf({ remoteAddress, remotePort, remoteFamily }: Socket): string {
  if (remoteAddress === undefined) return "unix:";
  return remoteFamily === "IPv6" ? `[${remoteAddress}]:${remotePort}` : `${remoteAddress}:${remotePort}`;
}
