import { createSocket, type Socket as DatagramSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { connect, type NetConnectOpts, type Socket } from "node:net";
import type { Logger } from "../log.ts";
import type { Counter } from "../statistics.ts";
import { Throttle, withCount } from "../throttle.ts";

/** Whole lines to another process. Never waits, never fails; what is lost is counted. */
export interface Transport {
  /** Whether there is room for more now. */
  readonly ready: boolean;
  /** How many bytes one `send` should hold at most. */
  readonly packetBytes: number;
  /** @param lines how many lines `text` holds */
  send(text: string, lines: number): void;
  /** Waits until ready, or until the attempt to connect that is under way fails, at most `milliseconds`. */
  room(milliseconds: number): Promise<void>;
  close(milliseconds: number): Promise<void>;
}

export interface TransportOptions {
  readonly log: Logger;
  /** Counts the lines that were lost. */
  readonly dropped: Counter;
  /** Milliseconds between attempts to connect, at first and at most. Default 100 and 3000. */
  readonly reconnect?: readonly [first: number, most: number];
}

/** Beyond this nothing more is handed to the socket until some of it is gone. */
const ROOM_BYTES = 1024 * 1024;
/** Whatever happens, no more than this waits in the socket. */
const MAX_BYTES = 4 * 1024 * 1024;
const CONNECT_TIMEOUT = 1500;
/** A peer that takes nothing for so long is as good as gone. */
const STALL_TIMEOUT = 10_000;

/** TCP or a unix stream socket, connected again whenever it breaks. */
export class StreamTransport implements Transport {
  readonly packetBytes: number = 64 * 1024;
  readonly #target: NetConnectOpts;
  readonly #name: string;
  readonly #options: TransportOptions;
  #socket: Socket | undefined;
  #connected = false;
  #pause: number;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;
  #away = false;
  #waiting: (() => void)[] = [];

  constructor(target: NetConnectOpts, name: string, options: TransportOptions) {
    this.#target = target;
    this.#name = name;
    this.#options = options;
    this.#pause = this.#firstPause;
    this.#connect();
  }

  get #firstPause(): number {
    return this.#options.reconnect?.[0] ?? 100;
  }

  get ready(): boolean {
    return this.#connected && this.#socket!.writableLength < ROOM_BYTES;
  }

  send(text: string, lines: number): void {
    const socket = this.#socket;
    if (!this.#connected || socket === undefined || socket.writableLength > MAX_BYTES) {
      this.#options.dropped.value += lines;
      return;
    }
    socket.write(text, (error) => {
      if (error != null) this.#options.dropped.value += lines;
      if (this.ready) this.#wake();
    });
  }

  async room(milliseconds: number): Promise<void> {
    if (this.ready || this.#retry !== undefined || milliseconds <= 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  async close(milliseconds: number): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    const socket = this.#socket;
    if (socket === undefined) return;
    if (this.#connected && milliseconds > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        const done = (): void => {
          clearTimeout(timer);
          resolve();
        };
        socket.once("close", done);
        socket.end(done);
      });
    }
    socket.destroy();
  }

  #connect(): void {
    const socket = connect(this.#target);
    this.#socket = socket;
    socket.unref();
    socket.setNoDelay(true);
    const late = setTimeout(() => socket.destroy(new Error("timed out")), CONNECT_TIMEOUT).unref();
    let reason = "the connection was closed";
    socket.once("connect", () => {
      clearTimeout(late);
      this.#connected = true;
      this.#pause = this.#firstPause;
      if (this.#away) this.#options.log.warn(`statistics: ${this.#name} is back`);
      this.#away = false;
      socket.setTimeout(STALL_TIMEOUT, () => {
        if (socket.writableLength > 0) socket.destroy(new Error("it takes nothing any more"));
      });
      this.#wake();
    });
    socket.on("error", (error) => {
      reason = error.message;
    });
    // A statsd server says nothing; reading tells that it has closed.
    socket.resume();
    socket.once("close", () => {
      clearTimeout(late);
      this.#connected = false;
      if (this.#closed) {
        this.#wake();
        return;
      }
      if (!this.#away) this.#options.log.warn(`statistics: ${this.#name} is away: ${reason}`);
      this.#away = true;
      this.#retry = setTimeout(() => {
        this.#retry = undefined;
        this.#connect();
      }, this.#pause).unref();
      this.#pause = Math.min(this.#pause * 2, this.#options.reconnect?.[1] ?? 3000);
      this.#wake();
    });
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

const RESOLVE_AGAIN_AFTER = 60_000;

/** UDP. The host's address is looked up once a minute, not once a packet. */
export class DatagramTransport implements Transport {
  /** What fits into one Ethernet frame on every path. */
  readonly packetBytes: number = 1432;
  readonly #host: string;
  readonly #port: number;
  readonly #options: TransportOptions;
  #socket: DatagramSocket | undefined;
  #address: { readonly address: string; readonly family: number } | undefined;
  #resolvedAt = 0;
  /** Characters that were sent and not yet reported to be out. */
  #inFlight = 0;
  #resolving: Promise<void> | undefined;
  readonly #failures = new Throttle();
  #away = false;
  #closed = false;

  constructor(host: string, port: number, options: TransportOptions) {
    this.#host = host;
    this.#port = port;
    this.#options = options;
    this.#resolve();
  }

  get ready(): boolean {
    if (performance.now() - this.#resolvedAt > RESOLVE_AGAIN_AFTER) this.#resolve();
    return this.#address !== undefined && this.#inFlight < ROOM_BYTES;
  }

  send(text: string, lines: number): void {
    if (this.#socket === undefined || this.#closed || this.#inFlight > MAX_BYTES) {
      this.#options.dropped.value += lines;
      return;
    }
    // Counted here: the socket's own figure leaves out what waits for its first binding.
    this.#inFlight += text.length;
    this.#socket.send(text, this.#port, this.#address!.address, (error) => {
      this.#inFlight -= text.length;
      if (error != null) this.#options.dropped.value += lines;
    });
  }

  async room(milliseconds: number): Promise<void> {
    const deadline = performance.now() + milliseconds;
    if (this.#address === undefined) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, milliseconds);
      });
      await Promise.race([this.#resolving, late]);
      clearTimeout(timer);
    }
    while (this.#inFlight >= ROOM_BYTES && performance.now() < deadline) await pause(5);
  }

  async close(milliseconds: number): Promise<void> {
    const deadline = performance.now() + milliseconds;
    while (this.#inFlight > 0 && performance.now() < deadline) await pause(5);
    this.#closed = true;
    this.#socket?.close();
    this.#socket = undefined;
  }

  #resolve(): void {
    this.#resolving ??= this.#lookUp().finally(() => {
      this.#resolving = undefined;
    });
  }

  async #lookUp(): Promise<void> {
    this.#resolvedAt = performance.now();
    try {
      const found = await lookup(this.#host);
      if (this.#closed) return;
      if (this.#socket === undefined || found.family !== this.#address?.family) {
        this.#socket?.close();
        this.#socket = createSocket(found.family === 6 ? "udp6" : "udp4").unref();
        this.#socket.on("error", (error) => {
          const count = this.#failures.hit();
          if (count === undefined) return;
          this.#options.log.warn(withCount(`statistics: UDP to ${this.#host}: ${error.message}`, count));
        });
      }
      this.#address = found;
      if (this.#away) this.#options.log.warn(`statistics: ${this.#host} is known again`);
      this.#away = false;
    } catch (error) {
      // An address that was good goes on being used.
      if (!this.#away)
        this.#options.log.warn(`statistics: ${this.#host} is not known: ${(error as Error).message}`);
      this.#away = true;
    }
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
