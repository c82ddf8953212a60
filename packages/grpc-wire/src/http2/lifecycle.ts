import { ErrorCode, MAX_STREAM_ID } from "../frames/constants.ts";
import type { PingListener } from "./control-frames.ts";
import { Keepalive, Silence } from "./keepalive.ts";
import type { Http2Times } from "./options.ts";
import type { ReadClock } from "./read-clock.ts";
import { SendWatch } from "./send-watch.ts";
import type { Sender } from "./sender.ts";
import type { PeerSettings } from "./settings.ts";
import type { Streams } from "./streams.ts";

/** Time for a peer to close its side after the server closed its own, and to answer the ping of a drain. */
const LINGER_MS = 1000;

const drainPing = Buffer.from("goodbye!", "latin1");
const keepalivePing = Buffer.from("alive?  ", "latin1");

export interface LifecycleDependencies {
  readonly times: Http2Times;
  readonly clock: ReadClock;
  readonly sender: Sender;
  readonly settings: PeerSettings;
  readonly streams: Streams;
  /** Whether the connection has sent its last frame. */
  isEnded(): boolean;
  /** Whether a frame or a header block is incomplete. */
  isMidRequest(): boolean;
  /** Sends the gathered bytes, then closes. */
  end(): void;
  /** Closes at once. */
  destroy(): void;
}

/**
 * All time limits of a connection: handshake, keepalive, idle time, age, drain, and peers that neither send nor read. A
 * connection has no timer: the server calls `sweep` of all connections at intervals.
 */
export class Lifecycle implements PingListener {
  readonly #deps: LifecycleDependencies;
  readonly #keepalive: Keepalive;
  readonly #sendWatch: SendWatch;
  readonly #openedAt: number;
  /** The time when the connection reaches its maximum age; Infinity for never. */
  readonly #agedAt: number;
  /** The time of the drain's first GOAWAY; 0 before. */
  #drainingSince = 0;
  #isAged = false;
  #endedAt = 0;
  #hasFailed = false;

  constructor(deps: LifecycleDependencies) {
    const { times, clock, sender } = deps;
    const { now } = clock;
    this.#deps = deps;
    this.#keepalive = new Keepalive(times, sender, clock);
    this.#sendWatch = new SendWatch(sender.output, times.sendTimeoutMs);
    this.#openedAt = now;
    const age = times.maxConnectionAgeMs;
    // Adds a jitter of ±10 %, so that connections that began together do not end together.
    this.#agedAt = age > 0 ? now + age * (0.9 + Math.random() * 0.2) : Number.POSITIVE_INFINITY;
  }

  isPingWelcome(): boolean {
    return this.#keepalive.isPingWelcome(this.#deps.clock.now);
  }

  onPingAck(bytes: Buffer, start: number): void {
    this.#keepalive.onPingAck();
    if (this.#isDraining && drainPing.compare(bytes, start, start + 8) === 0) this.#refuseNewStreams();
  }

  onEnding(hasFailed: boolean): void {
    this.#endedAt = this.#deps.clock.look();
    this.#hasFailed = hasFailed;
  }

  /**
   * Starts a graceful shutdown (RFC 9113 section 6.8). A GOAWAY with the highest stream id asks the peer to open no more
   * streams. The peer's response to the following PING confirms that it has received the GOAWAY.
   */
  startDrain(): void {
    const { sender, settings, clock } = this.#deps;
    if (this.#isDraining || this.#deps.isEnded()) return;
    this.#drainingSince = clock.look();
    if (!settings.isSeen) {
      this.#deps.end();
      return;
    }
    sender.writeGoaway(MAX_STREAM_ID, ErrorCode.NO_ERROR, "");
    sender.writePing(0, drainPing);
  }

  /** Starts the shutdown that a connection of maximum age gets. @returns whether the peer has to open a new connection */
  release(): boolean {
    if (this.#isDraining || this.#deps.isEnded() || !this.#deps.settings.isSeen) return false;
    this.#isAged = true;
    this.startDrain();
    return true;
  }

  /** Checks all time limits. */
  sweep(now: number): void {
    const { times, settings, sender, streams } = this.#deps;
    if (this.#deps.isEnded()) {
      this.#sweepEnding(now);
      return;
    }
    if (!settings.isSeen) {
      const { handshakeTimeoutMs } = times;
      if (handshakeTimeoutMs > 0 && now - this.#openedAt >= handshakeTimeoutMs) this.#deps.destroy();
      return;
    }
    if (this.#sendWatch.isStuck(now)) {
      this.#deps.destroy();
      return;
    }
    if (streams.size > 0) streams.sweep(now, times.sendTimeoutMs);
    const { requestTimeoutMs } = times;
    if (
      this.#deps.isMidRequest() &&
      requestTimeoutMs > 0 &&
      now - this.#keepalive.lastReceivedAt >= requestTimeoutMs
    ) {
      this.#deps.destroy();
      return;
    }
    switch (this.#keepalive.sweep(now, sender.output.unsent > 0)) {
      case Silence.DEAD:
        this.#deps.destroy();
        break;
      case Silence.MUST_PING:
        sender.writePing(0, keepalivePing);
        break;
    }
    if (this.#isDraining) this.#continueDrain(now);
    else if (now >= this.#agedAt || this.#isIdle(now)) {
      this.#isAged = true;
      this.startDrain();
    }
  }

  /** Whether the peer was asked to open no more streams. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  get #isDraining(): boolean {
    return this.#drainingSince > 0;
  }

  #isIdle(now: number): boolean {
    const { streams, times } = this.#deps;
    const { maxConnectionIdleMs } = times;
    return maxConnectionIdleMs > 0 && streams.size === 0 && now - streams.emptySince >= maxConnectionIdleMs;
  }

  /** Waits until the peer has read the last responses, except after a connection error. */
  #sweepEnding(now: number): void {
    if (!this.#hasFailed && this.#deps.sender.output.unsent > 0 && !this.#sendWatch.isStuck(now))
      this.#endedAt = now;
    else if (now - this.#endedAt >= LINGER_MS) this.#deps.destroy();
  }

  #continueDrain(now: number): void {
    if (now - this.#drainingSince >= LINGER_MS) this.#refuseNewStreams();
    const grace = this.#deps.times.maxConnectionAgeGraceMs;
    if (this.#isAged && grace > 0 && now - this.#drainingSince >= grace) this.#deps.destroy();
  }

  /** Second step of a drain: sends GOAWAY with the last accepted stream. The connection ends after that stream. */
  #refuseNewStreams(): void {
    const { streams, sender } = this.#deps;
    if (streams.isRefusing || this.#deps.isEnded()) return;
    sender.writeGoaway(streams.refuseNew(), ErrorCode.NO_ERROR, "");
    if (streams.size === 0) this.#deps.end();
  }
}
