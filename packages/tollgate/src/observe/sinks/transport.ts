import { createSocket, type Socket as DatagramSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { connect, type NetConnectOpts, type Socket } from "node:net";
import type { Logger } from "../log.ts";
import type { Counter } from "../statistics.ts";
import { Throttle, withCount } from "../throttle.ts";

/** Sends whole lines to another process. Never blocks and never fails; lost lines are counted. */
export interface Transport {
  /** Whether there is room for more now. */
  readonly ready: boolean;
  /** Maximum bytes for one `send`. */
  readonly packetBytes: number;
  /** @param lines number of lines in `text` */
  send(text: string, lines: number): void;
  /** Waits until ready, or until the current connection attempt fails, at most `milliseconds`. */
  room(milliseconds: number): Promise<void>;
  close(milliseconds: number): Promise<void>;
}

export interface TransportOptions {
  readonly log: Logger;
  /** Counts lost lines. */
  readonly dropped: Counter;
  /** First and maximum pause between connection attempts, in milliseconds. Default 100 and 3000. */
  readonly reconnect?: readonly [first: number, most: number];
}

/** Buffered bytes at which a transport is no longer ready. */
const ROOM_BYTES = 1024 * 1024;
/** Maximum buffered bytes. Further lines are dropped. */
const MAX_BYTES = 4 * 1024 * 1024;
const CONNECT_TIMEOUT = 1500;
/** A connection whose peer reads nothing for this long is closed, in milliseconds. */
const STALL_TIMEOUT = 10_000;

/** A TCP or unix stream socket that reconnects after failures. */
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
      if (this.#away) this.#options.log.warn(`statistics: connected to ${this.#name} again`);
      this.#away = false;
      socket.setTimeout(STALL_TIMEOUT, () => {
        if (socket.writableLength > 0) socket.destroy(new Error("the peer stopped reading"));
      });
      this.#wake();
    });
    socket.on("error", (error) => {
      reason = error.message;
    });
    // A statsd server sends nothing. Reading detects that it closed the connection.
    socket.resume();
    socket.once("close", () => {
      clearTimeout(late);
      this.#connected = false;
      if (this.#closed) {
        this.#wake();
        return;
      }
      if (!this.#away) this.#options.log.warn(`statistics: ${this.#name} is unavailable: ${reason}`);
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

/** A UDP socket. Looks up the host's address once a minute, not for each packet. */
export class DatagramTransport implements Transport {
  /** Fits into one Ethernet frame on every path. */
  readonly packetBytes: number = 1432;
  readonly #host: string;
  readonly #port: number;
  readonly #options: TransportOptions;
  #socket: DatagramSocket | undefined;
  #address: { readonly address: string; readonly family: number } | undefined;
  #resolvedAt = 0;
  /** Characters passed to the socket whose callback has not been called yet. */
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
    // Counted here, because the socket's own figure omits packets that wait for its first binding.
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
      if (this.#away) this.#options.log.warn(`statistics: ${this.#host} was resolved again`);
      this.#away = false;
    } catch (error) {
      // The last known address stays in use.
      if (!this.#away)
        this.#options.log.warn(`statistics: cannot resolve ${this.#host}: ${(error as Error).message}`);
      this.#away = true;
    }
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
