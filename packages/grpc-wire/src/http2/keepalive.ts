import type { ConnectionWork } from "./abuse-limits.ts";
import type { Http2Times } from "./options.ts";

/** What a sweep finds a connection's peer to be. */
export const Silence = { NONE: 0, MUST_PING: 1, DEAD: 2 } as const;

/** Pings of both sides: sends one to a peer that is silent, and bounds those that the peer sends. */
export class Keepalive {
  readonly #times: Http2Times;
  readonly #work: ConnectionWork;
  #lastReceivedAt: number;
  #pingSentAt = 0;
  #peerPingAt = 0;
  #workAtPing = -1;
  #strikes = 0;

  constructor(times: Http2Times, work: ConnectionWork, now: number) {
    this.#times = times;
    this.#work = work;
    this.#lastReceivedAt = now;
  }

  /** When bytes of the peer came last. */
  get lastReceivedAt(): number {
    return this.#lastReceivedAt;
  }

  onReceived(now: number): void {
    this.#lastReceivedAt = now;
  }

  onPingAck(): void {
    this.#pingSentAt = 0;
  }

  /**
   * Whether the peer's ping may be answered. False after too many that came too fast with nothing of a response sent
   * between them. Clients that estimate their bandwidth ping each time that DATA comes: grpc-go and gRPC's C core do.
   */
  isPingWelcome(now: number): boolean {
    const { minPingIntervalMs, maxPingStrikes } = this.#times;
    const done = this.#work.answered + this.#work.dataFramesSent;
    if (done !== this.#workAtPing) this.#strikes = 0;
    else if (now - this.#peerPingAt < minPingIntervalMs) this.#strikes += 1;
    // Timers jitter: a peer that pings at the very interval comes early about every second time.
    else if (this.#strikes > 0) this.#strikes -= 1;
    this.#workAtPing = done;
    this.#peerPingAt = now;
    return this.#strikes <= maxPingStrikes;
  }

  /** What to do about a silent peer: a value of `Silence`. @param hasUnsent bytes wait for the socket */
  sweep(now: number, hasUnsent: boolean): number {
    const { keepaliveTimeMs, keepaliveTimeoutMs, sendTimeoutMs } = this.#times;
    // Behind unsent bytes a ping waits, too, and the send time-out watches those.
    if (hasUnsent && sendTimeoutMs > 0) this.#pingSentAt = 0;
    else if (this.#pingSentAt > 0) {
      // Anything received since shows that the peer is there.
      if (this.#lastReceivedAt > this.#pingSentAt) this.#pingSentAt = 0;
      else if (keepaliveTimeoutMs > 0 && now - this.#pingSentAt >= keepaliveTimeoutMs) return Silence.DEAD;
    } else if (keepaliveTimeMs > 0 && now - this.#lastReceivedAt >= keepaliveTimeMs) {
      this.#pingSentAt = now;
      return Silence.MUST_PING;
    }
    return Silence.NONE;
  }
}
