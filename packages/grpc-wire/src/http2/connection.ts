import type { Socket } from "node:net";
import { ErrorCode, MAX_FRAME_BYTES } from "../frames/constants.ts";
import { FrameReader, type ReaderEvents } from "../frames/reader.ts";
import { AbuseLimits } from "./abuse-limits.ts";
import { ConnectionErrors } from "./connection-errors.ts";
import { FrameReceiver } from "./frame-receiver.ts";
import { HTTP1_REFUSAL, isHttp1 } from "./http1.ts";
import type { ConnectionEvents } from "./interface.ts";
import { Lifecycle } from "./lifecycle.ts";
import type { Http2Dependencies } from "./options.ts";
import { Output } from "./output.ts";
import { Peer } from "./peer.ts";
import { ReadClock } from "./read-clock.ts";
import { Sender } from "./sender.ts";
import { initialFrames, PeerSettings } from "./settings.ts";
import { Streams } from "./streams.ts";

export interface ConnectionOptions {
  readonly socket: Socket;
  readonly isTls: boolean;
  readonly events: ConnectionEvents;
  /** Called when the socket is closed and no stream is left. */
  onClosed(connection: Connection): void;
}

/** The server side of one HTTP/2 connection (RFC 9113). Connects its parts with its socket. */
export class Connection implements ReaderEvents {
  readonly #deps: Http2Dependencies;
  readonly #options: ConnectionOptions;
  readonly #socket: Socket;
  readonly #events: ConnectionEvents;
  readonly #output: Output;
  readonly #clock: ReadClock;
  readonly #peer: Peer;
  readonly #sender: Sender;
  readonly #errors: ConnectionErrors;
  readonly #streams: Streams;
  readonly #lifecycle: Lifecycle;
  readonly #receiver: FrameReceiver;
  readonly #reader: FrameReader;
  #isPaused = false;
  #discarded = 0;

  constructor(deps: Http2Dependencies, options: ConnectionOptions) {
    const { socket, events } = options;
    const { limits, times } = deps;
    this.#deps = deps;
    this.#options = options;
    this.#socket = socket;
    this.#events = events;
    const clock = new ReadClock();
    const peer = new Peer(socket);
    const output = new Output(socket, options.isTls);
    const sender = new Sender(output, limits, deps.queued);
    const settings = new PeerSettings();
    const errors = new ConnectionErrors((code, message) => this.#fail(code, message));
    const abuse = new AbuseLimits(limits, clock, sender);
    const streams = new Streams({
      limits,
      peer,
      clock,
      sender,
      settings,
      abuse,
      errors,
      events,
      onDrained: () => this.#end(false),
    });
    this.#lifecycle = new Lifecycle({
      times,
      clock,
      sender,
      settings,
      streams,
      isEnded: () => errors.isEnded,
      isMidRequest: () => this.#reader.isMidFrame || this.#receiver.isMidBlock,
      end: () => this.#end(false),
      destroy: () => this.destroy(),
    });
    this.#receiver = new FrameReceiver({
      limits,
      streams,
      sender,
      settings,
      abuse,
      errors,
      pings: this.#lifecycle,
    });
    this.#output = output;
    this.#clock = clock;
    this.#peer = peer;
    this.#sender = sender;
    this.#errors = errors;
    this.#streams = streams;
    this.#reader = new FrameReader(this.#receiver, this);
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#onData(chunk));
    socket.on("drain", () => this.#onDrain());
    socket.on("end", () => socket.end());
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#onClose());
  }

  /** Starts a graceful shutdown: sends GOAWAY, and closes after the last stream has ended. */
  startDrain(): void {
    this.#lifecycle.startDrain();
  }

  /** Asks the peer to open a new connection, as at the maximum age. @returns false if it cannot be asked now */
  release(): boolean {
    return this.#lifecycle.release();
  }

  get isDraining(): boolean {
    return this.#lifecycle.isDraining;
  }

  /** Checks all time limits. The server calls it at intervals. */
  sweep(): void {
    this.#lifecycle.sweep(this.#clock.look());
  }

  /** Closes the connection at once. */
  destroy(): void {
    this.#errors.isEnded = true;
    this.#reader.stop();
    this.#output.close();
    this.#socket.destroy();
    this.#streams.cancelAll();
  }

  // Events of the frame reader

  /** The server sends its preface after the client's, so that it can answer an HTTP/1.1 client in HTTP/1.1. */
  onPreface(): void {
    this.#output.write(initialFrames(this.#deps.limits));
  }

  onBadPreface(received: Buffer): void {
    const speaksHttp1 = isHttp1(received);
    if (speaksHttp1) this.#output.write(HTTP1_REFUSAL);
    this.#fail(
      ErrorCode.PROTOCOL_ERROR,
      "the connection does not start with the HTTP/2 preface",
      !speaksHttp1,
    );
  }

  onOversizedFrame(length: number): void {
    this.#fail(
      ErrorCode.FRAME_SIZE_ERROR,
      `a frame of ${length} bytes exceeds the maximum of ${MAX_FRAME_BYTES}`,
    );
  }

  // Events of the socket

  #onData(chunk: Buffer): void {
    if (this.#errors.isEnded) {
      this.#discard(chunk.length);
      return;
    }
    this.#clock.beginRead();
    this.#events.onReadBegin();
    this.#output.cork();
    try {
      this.#reader.read(chunk);
    } catch (error) {
      // An error in the server or in an observer ends this connection, not the process.
      this.#deps.onFault(error);
      this.#fail(ErrorCode.INTERNAL_ERROR, "internal error");
    }
    this.#sender.pump();
    this.#events.onReadEnd();
    this.#output.uncork();
    if (this.#output.isFull && !this.#isPaused && !this.#errors.isEnded) {
      // The peer does not read its responses. Reading continues when it does.
      this.#isPaused = true;
      this.#socket.pause();
    }
  }

  #onDrain(): void {
    this.#clock.look();
    this.#sender.pump();
    if (this.#isPaused && !this.#output.isFull) {
      this.#isPaused = false;
      this.#socket.resume();
    }
  }

  /**
   * After the last frame, reads and drops the bytes that were in flight. Otherwise the kernel could send a TCP reset that
   * overtakes the GOAWAY. A peer that sends more than a window is cut off.
   */
  #discard(size: number): void {
    this.#discarded += size;
    if (this.#discarded > this.#deps.limits.connectionWindowBytes) this.destroy();
  }

  #onClose(): void {
    this.#errors.isEnded = true;
    this.#reader.stop();
    this.#output.close();
    this.#streams.cancelAll();
    this.#options.onClosed(this);
  }

  // The end

  /** Ends the connection with an error (RFC 9113 section 5.4.1). GOAWAY is the last frame. */
  #fail(code: ErrorCode, message: string, sendsGoaway = true): void {
    if (this.#errors.isEnded) return;
    this.#deps.onConnectionError(this.#peer.address, code, message);
    // This comes before `cancelAll`: on a draining connection, the end of the last stream ends the connection.
    if (sendsGoaway) this.#sender.writeGoaway(this.#streams.lastId, code, message);
    this.#end(true);
    this.#streams.cancelAll();
  }

  /** Sends the gathered bytes, then closes. `sweep` destroys the connection if the peer does not close its side. */
  #end(hasFailed: boolean): void {
    if (this.#errors.isEnded) return;
    this.#errors.isEnded = true;
    this.#reader.stop();
    this.#lifecycle.onEnding(hasFailed);
    this.#output.flush();
    this.#socket.end();
    if (this.#isPaused) this.#socket.resume();
  }
}
