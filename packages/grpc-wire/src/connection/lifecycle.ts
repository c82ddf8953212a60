import { MAX_STREAM_ID } from "../frames/constants.ts";
import type { Connection } from "./connection.ts";
import { writeGoaway, writePing } from "./control-writer.ts";

/** Time for a peer to close its side after we closed ours, and to answer the ping of a drain. */
const LINGER_MS = 1000;

const drainPing = Buffer.from("goodbye!", "latin1");
const keepalivePing = Buffer.from("alive?  ", "latin1");

/**
 * A connection's life in time: handshake, keepalive, ping enforcement, idleness, age, drain, and peers that
 * neither send nor read. There is no timer per connection: the server goes through all of them every so often
 * and calls `sweep`.
 */
export class Lifecycle {
  readonly #connection: Connection;
  readonly #openedAt: number;
  /** When age makes the connection go; Infinity for never. */
  readonly #goesAt: number;
  lastReceivedAt: number;
  /** HEADERS above this id come after our last GOAWAY: ignored. */
  lastAcceptedId = MAX_STREAM_ID;
  #idleSince: number;
  #pingSentAt = 0;
  /** The first GOAWAY of a drain was sent. */
  #drainingSince = 0;
  #isAged = false;
  #endedAt = 0;
  #hasFailed = false;
  /** Since when unsent bytes wait without the peer taking any, and how many it had taken by then. */
  #stuckSince = 0;
  #takenThen = 0;
  #lastPingAt = 0;
  #sentAtPing = -1;
  #strikes = 0;

  constructor(connection: Connection) {
    this.#connection = connection;
    const { now, host } = connection;
    this.#openedAt = now;
    this.lastReceivedAt = now;
    this.#idleSince = now;
    const age = host.times.maxConnectionAgeMs;
    this.#goesAt = age > 0 ? now + age * (0.9 + Math.random() * 0.2) : Number.POSITIVE_INFINITY;
  }

  get isDraining(): boolean {
    return this.#drainingSince > 0;
  }

  /**
   * First step of a graceful end: GOAWAY without a limit tells the peer to open no more streams, and a ping
   * marks the point from which it knows (RFC 9113 section 6.8).
   */
  startDrain(): void {
    const connection = this.#connection;
    if (this.isDraining || connection.isDead) return;
    this.#drainingSince = this.#connection.host.clock();
    if (!connection.settingsSeen) {
      connection.end();
      return;
    }
    writeGoaway(connection.output, MAX_STREAM_ID, 0, "");
    writePing(connection.output, 0, drainPing);
  }

  onPingAck(bytes: Buffer, start: number): void {
    this.#pingSentAt = 0;
    if (this.isDraining && drainPing.compare(bytes, start, start + 8) === 0) this.#refuseNewStreams();
  }

  /**
   * Whether a ping may be answered; false after too many that came too fast with nothing of an answer sent between
   * them. Clients that estimate their bandwidth ping each time that DATA comes: grpc-go and gRPC's C core do.
   */
  isPingWelcome(): boolean {
    const { now, answered, dataFramesSent, host } = this.#connection;
    const sent = answered + dataFramesSent;
    if (sent !== this.#sentAtPing) this.#strikes = 0;
    else if (now - this.#lastPingAt < host.times.minPingIntervalMs) this.#strikes += 1;
    // Timers jitter: who pings at the very interval comes early about every second time.
    else if (this.#strikes > 0) this.#strikes -= 1;
    this.#sentAtPing = sent;
    this.#lastPingAt = now;
    return this.#strikes <= host.times.maxPingStrikes;
  }

  onNoStreams(): void {
    this.#idleSince = this.#connection.now;
    if (this.lastAcceptedId !== MAX_STREAM_ID) this.#connection.end();
  }

  onEnding(hasFailed: boolean): void {
    this.#endedAt = this.#connection.host.clock();
    this.#hasFailed = hasFailed;
  }

  /** Looks at everything that can be too late. */
  sweep(now: number): void {
    const connection = this.#connection;
    connection.now = now;
    const { times } = connection.host;
    if (connection.isDead) {
      // A graceful end waits for the last answers to be read; after a fault nobody is owed any.
      if (!this.#hasFailed && connection.output.unsent > 0 && !this.#isSendStuck(now)) this.#endedAt = now;
      else if (now - this.#endedAt >= LINGER_MS) connection.destroy();
      return;
    }
    if (!connection.settingsSeen) {
      const { handshakeTimeoutMs } = times;
      if (handshakeTimeoutMs > 0 && now - this.#openedAt >= handshakeTimeoutMs) connection.destroy();
      return;
    }
    if (this.#isSendStuck(now)) {
      connection.destroy();
      return;
    }
    if (connection.streams.size > 0) this.#sweepStreams(now);
    if (
      connection.isMidRequest &&
      times.requestTimeoutMs > 0 &&
      now - this.lastReceivedAt >= times.requestTimeoutMs
    ) {
      connection.destroy();
      return;
    }
    this.#keepAlive(now);
    if (this.isDraining) {
      this.#goOnDraining(now);
      return;
    }
    const isIdle = connection.streams.size === 0 && now - this.#idleSince >= times.maxConnectionIdleMs;
    if (now >= this.#goesAt || (times.maxConnectionIdleMs > 0 && isIdle)) {
      this.#isAged = true;
      this.startDrain();
    }
  }

  #keepAlive(now: number): void {
    const { times } = this.#connection.host;
    // Behind unsent bytes a ping waits like they do, and its answer is not read: the time-out for sending is on watch.
    if (this.#connection.output.unsent > 0 && times.sendTimeoutMs > 0) this.#pingSentAt = 0;
    else if (this.#pingSentAt > 0) {
      const { keepaliveTimeoutMs } = times;
      // Anything received since shows that the peer is there.
      if (this.lastReceivedAt > this.#pingSentAt) this.#pingSentAt = 0;
      else if (keepaliveTimeoutMs > 0 && now - this.#pingSentAt >= keepaliveTimeoutMs)
        this.#connection.destroy();
    } else if (times.keepaliveTimeMs > 0 && now - this.lastReceivedAt >= times.keepaliveTimeMs) {
      this.#pingSentAt = now;
      writePing(this.#connection.output, 0, keepalivePing);
    }
  }

  #goOnDraining(now: number): void {
    const { times } = this.#connection.host;
    if (now - this.#drainingSince >= LINGER_MS) this.#refuseNewStreams();
    const grace = times.maxConnectionAgeGraceMs;
    if (this.#isAged && grace > 0 && now - this.#drainingSince >= grace) this.#connection.destroy();
  }

  /** Second step: GOAWAY with the last stream that will be answered; the connection ends with it. */
  #refuseNewStreams(): void {
    const connection = this.#connection;
    if (this.lastAcceptedId !== MAX_STREAM_ID || connection.isDead) return;
    this.lastAcceptedId = connection.lastStreamId;
    writeGoaway(connection.output, connection.lastStreamId, 0, "");
    if (connection.streams.size === 0) connection.end();
  }

  #isSendStuck(now: number): boolean {
    const { unsent, taken } = this.#connection.output;
    const { sendTimeoutMs } = this.#connection.host.times;
    if (unsent === 0 || sendTimeoutMs === 0) {
      this.#stuckSince = 0;
      return false;
    }
    if (this.#stuckSince === 0 || taken !== this.#takenThen) this.#stuckSince = now;
    this.#takenThen = taken;
    return now - this.#stuckSince >= sendTimeoutMs;
  }

  #sweepStreams(now: number): void {
    const connection = this.#connection;
    const { requestTimeoutMs, sendTimeoutMs } = connection.host.times;
    for (const stream of connection.streams.list()) {
      const { queue } = stream;
      if (queue !== undefined && queue.bytes > 0) {
        if (sendTimeoutMs > 0 && now - queue.movedAt >= sendTimeoutMs) stream.giveUp();
      } else if (!stream.remoteClosed && !stream.finished && stream.route.kind !== "bidiStreaming") {
        if (stream.isLate(now)) stream.onDeadline();
        else if (requestTimeoutMs > 0 && now - stream.received.monotonic >= requestTimeoutMs) stream.giveUp();
      }
    }
  }
}
