import type { ConnectionWork } from "./abuse-limits.ts";
import type { Http2Times } from "./options.ts";
import type { ReadClock } from "./read-clock.ts";

/** The result of a keepalive check. */
export const Silence = { NONE: 0, MUST_PING: 1, DEAD: 2 } as const;

/** Pings a silent peer, and limits the rate of the peer's own pings. */
export class Keepalive {
  readonly #times: Http2Times;
  readonly #work: ConnectionWork;
  readonly #clock: ReadClock;
  #pingSentAt = 0;
  #peerPingAt = 0;
  #workAtPing = -1;
  #strikes = 0;

  constructor(times: Http2Times, work: ConnectionWork, clock: ReadClock) {
    this.#times = times;
    this.#work = work;
    this.#clock = clock;
  }

  /** The time when the peer's last bytes arrived. */
  get lastReceivedAt(): number {
    return this.#clock.read.monotonic;
  }

  onPingAck(): void {
    this.#pingSentAt = 0;
  }

  /**
   * Whether to answer the peer's ping. False after too many pings in too short a time, if the server sent no part of a
   * response between them. grpc-go and gRPC's C core ping for each DATA frame that they receive, to estimate bandwidth.
   */
  isPingWelcome(now: number): boolean {
    const { minPingIntervalMs, maxPingStrikes } = this.#times;
    const done = this.#work.answered + this.#work.dataFramesSent;
    if (done !== this.#workAtPing) this.#strikes = 0;
    else if (now - this.#peerPingAt < minPingIntervalMs) this.#strikes += 1;
    // Timers jitter: about half of the pings of a peer that uses exactly this interval arrive early.
    else if (this.#strikes > 0) this.#strikes -= 1;
    this.#workAtPing = done;
    this.#peerPingAt = now;
    return this.#strikes <= maxPingStrikes;
  }

  /**
   * Checks for a silent peer. Returns a value of `Silence`.
   * @param hasUnsent whether the socket has unsent bytes
   */
  sweep(now: number, hasUnsent: boolean): number {
    const { keepaliveTimeMs, keepaliveTimeoutMs, sendTimeoutMs } = this.#times;
    // A ping would wait behind the unsent bytes. The send time-out covers those.
    if (hasUnsent && sendTimeoutMs > 0) this.#pingSentAt = 0;
    else if (this.#pingSentAt > 0) {
      // Any bytes since then show that the peer is alive.
      if (this.lastReceivedAt > this.#pingSentAt) this.#pingSentAt = 0;
      else if (keepaliveTimeoutMs > 0 && now - this.#pingSentAt >= keepaliveTimeoutMs) return Silence.DEAD;
    } else if (keepaliveTimeMs > 0 && now - this.lastReceivedAt >= keepaliveTimeMs) {
      this.#pingSentAt = now;
      return Silence.MUST_PING;
    }
    return Silence.NONE;
  }
}
