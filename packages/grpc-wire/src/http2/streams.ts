import { ErrorCode, MAX_STREAM_ID } from "../frames/constants.ts";
import type { AbuseLimits } from "./abuse-limits.ts";
import { Closed, ClosedStreams } from "./closed-streams.ts";
import type { ConnectionErrors } from "./connection-errors.ts";
import type { ConnectionEvents } from "./interface.ts";
import type { Http2Limits } from "./options.ts";
import type { Peer } from "./peer.ts";
import type { ReadClock } from "./read-clock.ts";
import type { RequestHead } from "./request-head.ts";
import type { Sender } from "./sender.ts";
import type { PeerSettings } from "./settings.ts";
import { Stream, type StreamDependencies } from "./stream.ts";
import { StreamTable } from "./stream-table.ts";

export interface StreamsDependencies {
  readonly limits: Http2Limits;
  readonly peer: Peer;
  readonly clock: ReadClock;
  readonly sender: Sender;
  readonly settings: PeerSettings;
  readonly abuse: AbuseLimits;
  readonly errors: ConnectionErrors;
  readonly events: ConnectionEvents;
  /** Called when the last stream has closed after `refuseNew`. */
  onDrained(): void;
}

/** Opens, resets and closes the streams of one connection, and remembers how they closed. */
export class Streams implements StreamDependencies {
  readonly peer: Peer;
  readonly clock: ReadClock;
  readonly sender: Sender;
  readonly receiveWindowBytes: number;
  readonly #deps: StreamsDependencies;
  readonly #settings: PeerSettings;
  readonly #events: ConnectionEvents;
  readonly #maxStreams: number;
  readonly #table = new StreamTable<Stream>();
  readonly #closed = new ClosedStreams();
  /** The streams that count against `maxConcurrentStreams`: open ones, and closed ones with a running handler. */
  #slots = 0;
  #lastId = 0;
  /** The time when the last open stream closed. */
  emptySince = performance.now();
  /** The server ignores streams above this id: they began after its last GOAWAY. */
  #lastAcceptedId = MAX_STREAM_ID;
  /** The client has skipped an id, so a stream with a lower id may never have been open. */
  #hasSkippedIds = false;

  constructor(deps: StreamsDependencies) {
    this.#deps = deps;
    this.#settings = deps.settings;
    this.#events = deps.events;
    this.#maxStreams = deps.limits.maxConcurrentStreams;
    this.peer = deps.peer;
    this.clock = deps.clock;
    this.sender = deps.sender;
    this.receiveWindowBytes = deps.limits.streamWindowBytes;
  }

  /** The number of open streams. */
  get size(): number {
    return this.#table.size;
  }

  /** The highest id that the client has used. */
  get lastId(): number {
    return this.#lastId;
  }

  get(id: number): Stream | undefined {
    return this.#table.get(id);
  }

  /** Whether the id is above all ids that the client has used. */
  isIdle(id: number): boolean {
    return id > this.#lastId;
  }

  /** Whether the id is above the last stream id of the server's GOAWAY. */
  isAfterGoaway(id: number): boolean {
    return id > this.#lastAcceptedId;
  }

  get isRefusing(): boolean {
    return this.#lastAcceptedId !== MAX_STREAM_ID;
  }

  /** Ignores all new streams from now on. Returns the id of the last accepted stream. */
  refuseNew(): number {
    this.#lastAcceptedId = this.#lastId;
    return this.#lastId;
  }

  /** The side that reset a closed stream: a value of `Closed`. */
  closedBy(id: number): number {
    return this.#closed.lookup(id);
  }

  /** Whether a closed stream was certainly open before. */
  wasOpen(id: number): boolean {
    return id === this.#lastId || !this.#hasSkippedIds;
  }

  /** Opens a stream. `selfDependent`: its priority makes it depend on itself. */
  open(id: number, head: RequestHead, ended: boolean, selfDependent: boolean): void {
    if (id > this.#lastId + 2) this.#hasSkippedIds = true;
    this.#lastId = id;
    if (selfDependent || head.fault !== "" || (ended && head.contentLength > 0))
      this.resetStream(id, ErrorCode.PROTOCOL_ERROR);
    else if (this.#slots >= this.#maxStreams) this.resetStream(id, ErrorCode.REFUSED_STREAM);
    else if (this.sender.isQueueFull()) this.resetStream(id, ErrorCode.ENHANCE_YOUR_CALM);
    else {
      const stream = new Stream(this, id, this.#settings.streamWindow, head.contentLength, ended);
      this.#slots += 1;
      this.#table.add(stream);
      this.#events.onRequest(stream, head, ended);
    }
  }

  /** Ends a stream with an error (RFC 9113 section 5.4.2). The reset counts against the peer like its own. */
  resetStream(id: number, code: ErrorCode): void {
    // This comes before `cancel`: on a draining connection, the end of the last stream ends the connection.
    this.#sendReset(id, code);
    this.#table.get(id)?.cancel();
    this.#chargeReset("too many streams with errors");
  }

  /** Handles the peer's RST_STREAM. */
  onPeerReset(id: number): void {
    const stream = this.#table.get(id);
    if (stream !== undefined) {
      stream.cancel();
      this.#closed.add(id, Closed.BY_PEER);
    }
    this.#chargeReset("too many RST_STREAM frames");
  }

  #chargeReset(message: string): void {
    if (!this.#deps.abuse.chargeReset()) this.#deps.errors.enhanceYourCalm(message);
  }

  /** Sends RST_STREAM. The server ignores later frames of the stream. */
  #sendReset(id: number, code: ErrorCode): void {
    this.sender.writeReset(id, code);
    this.#closed.add(id, Closed.BY_US);
  }

  onClosed(stream: Stream, mustReset: boolean): void {
    if (mustReset) this.#sendReset(stream.id, ErrorCode.NO_ERROR);
    this.#table.delete(stream);
    if (this.#table.size > 0) return;
    this.emptySince = this.clock.now;
    if (this.isRefusing) this.#deps.onDrained();
  }

  onReleased(): void {
    this.#slots -= 1;
  }

  /** Changes all send windows by `change` (RFC 9113 section 6.9.2). Returns false when a window overflows. */
  growSendWindows(change: number): boolean {
    for (const stream of this.#table.list()) if (!stream.growSendWindow(change)) return false;
    return true;
  }

  sweep(now: number, sendTimeoutMs: number): void {
    for (const stream of this.#table.list()) stream.onSweep(now, sendTimeoutMs);
  }

  cancelAll(): void {
    for (const stream of this.#table.list()) stream.cancel();
  }
}
