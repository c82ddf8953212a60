import { type Endpoint, formatEndpoint } from "../transport/endpoint.ts";
import type { Connection } from "./connection.ts";
import type { ResolvedOptions } from "./kvstore-options.ts";
import { openConnection } from "./open-connection.ts";
import { ErrorReply, type Reply } from "./resp/reply.ts";
import type { SentinelTarget } from "./target.ts";

/** Milliseconds between two polls of the sentinels. */
const POLL_MS = 1000;
/** Timeout for the answer of a sentinel. */
const ANSWER_TIMEOUT_MS = 500;
/**
 * Sentinels exchange their state every 2 s. If all of them still report an older epoch after this time, they were set
 * up again and count epochs from 0.
 */
const EPOCH_RESET_MS = 10_000;
/** Wait for the remaining sentinels after more than half have answered. */
const GRACE_MS = 50;

interface MasterReport {
  readonly endpoint: Endpoint;
  /** Raised with each failover: the report with the highest epoch is the newest. */
  readonly epoch: number;
}

/**
 * Finds the master. It asks all sentinels at once and uses the report with the highest epoch. In a failover the leading
 * sentinel knows the new master seconds before the others, and hits on the former master are lost. The sentinels are
 * asked every second, and whenever one of them publishes a failover.
 */
export class SentinelWatch {
  readonly #target: SentinelTarget;
  readonly #options: ResolvedOptions;
  readonly #timeout: number;
  readonly #onMoved: (from: string, to: string) => void;
  readonly #connections = new Map<Endpoint, Connection>();
  readonly #subscriptions = new Map<Endpoint, Connection | "opening">();
  #known: string | undefined;
  #epoch = -1;
  /** Start of the time with outdated reports only, on the monotonic clock. */
  #behindSince: number | undefined;
  #asking: Promise<Endpoint> | undefined;
  #poll: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(target: SentinelTarget, options: ResolvedOptions, onMoved: (from: string, to: string) => void) {
    this.#target = target;
    this.#options = options;
    this.#timeout = Math.min(options.timeout, ANSWER_TIMEOUT_MS);
    this.#onMoved = onMoved;
    this.#pollNow();
  }

  /** Asks the sentinels for the master. Concurrent calls share one request. */
  master(): Promise<Endpoint> {
    this.#asking ??= this.#askAll().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  /** Whether a server is the master, as far as the last answers tell. */
  isMaster(endpoint: Endpoint): boolean {
    return this.#known === undefined || this.#known === formatEndpoint(endpoint);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#poll);
    for (const connection of this.#connections.values()) connection.destroy();
    for (const connection of this.#subscriptions.values()) if (connection !== "opening") connection.destroy();
  }

  #pollNow(): void {
    if (this.#closed) return;
    clearTimeout(this.#poll);
    this.#poll = setTimeout(() => this.#pollNow(), POLL_MS);
    this.#poll.unref();
    for (const sentinel of this.#target.sentinels) void this.#subscribe(sentinel);
    this.master().catch(() => {});
  }

  async #askAll(): Promise<Endpoint> {
    const { sentinels, master } = this.#target;
    const faults: string[] = [];
    const reports: MasterReport[] = [];
    await new Promise<void>((resolve) => {
      let open = sentinels.length;
      const answered = () => {
        open--;
        if (open === 0) resolve();
        else if (reports.length > sentinels.length / 2) setTimeout(resolve, GRACE_MS);
      };
      for (const sentinel of sentinels)
        this.#ask(sentinel)
          .then(
            (report) => reports.push(report),
            (error: Error) => faults.push(error.message),
          )
          .finally(answered);
    });
    const newest = reports.sort((a, b) => b.epoch - a.epoch)[0];
    if (newest === undefined)
      throw new Error(`no sentinel knows the master "${master}": ${faults.join("; ")}`);
    return this.#accept(newest);
  }

  /** Rejects reports of an older epoch: the sentinels with the newer epoch may not have answered this time. */
  #accept({ endpoint, epoch }: MasterReport): Endpoint {
    const now = formatEndpoint(endpoint);
    if (epoch < this.#epoch && this.#known !== undefined) {
      this.#behindSince ??= performance.now();
      if (performance.now() - this.#behindSince < EPOCH_RESET_MS)
        throw new Error(`the sentinels that answered do not know of the failover to ${this.#known}`);
    }
    this.#behindSince = undefined;
    const before = this.#known;
    this.#known = now;
    this.#epoch = epoch;
    if (before !== undefined && before !== now) this.#onMoved(before, now);
    return endpoint;
  }

  async #ask(sentinel: Endpoint): Promise<MasterReport> {
    const { master } = this.#target;
    let connection = this.#connections.get(sentinel);
    if (connection === undefined || connection.closed) {
      connection = await this.#open(sentinel, this.#timeout);
      // A slow sentinel may be asked again before its first connection is open. Keep one.
      const other = this.#connections.get(sentinel);
      if (other !== undefined && !other.closed) {
        connection.destroy();
        connection = other;
      } else this.#connections.set(sentinel, connection);
    }
    const [where, state] = await connection.commands([
      ["SENTINEL", "get-master-addr-by-name", master],
      ["SENTINEL", "MASTER", master],
    ]);
    if (where instanceof ErrorReply) {
      connection.destroy();
      throw new Error(`error reply of the sentinel ${formatEndpoint(sentinel)}: ${where.message}`);
    }
    if (!Array.isArray(where) || where.length !== 2)
      throw new Error(`the sentinel ${formatEndpoint(sentinel)} does not know "${master}"`);
    return { endpoint: { host: String(where[0]), port: Number(where[1]) }, epoch: epochOf(state!) };
  }

  async #open(sentinel: Endpoint, exchangeTimeout: number): Promise<Connection> {
    const { tls, sentinelCredentials } = this.#options;
    const connection = await openConnection({
      endpoint: sentinel,
      tls,
      credentials: sentinelCredentials,
      timeout: this.#timeout,
      exchangeTimeout,
    });
    if (this.#closed) connection.destroy();
    return connection;
  }

  /** Subscribes to failovers. The next poll renews a lost subscription. */
  async #subscribe(sentinel: Endpoint): Promise<void> {
    if (this.#subscriptions.has(sentinel)) return;
    this.#subscriptions.set(sentinel, "opening");
    try {
      const connection = await this.#open(sentinel, 2 ** 31 - 1);
      this.#subscriptions.set(sentinel, connection);
      connection.onClose(() => this.#subscriptions.delete(sentinel));
      if (connection.closed) return;
      connection.writer.reset();
      connection.writer.command(["SUBSCRIBE", "+promoted-slave", "+switch-master"]);
      connection.send({
        accept: (reply) => {
          if (Array.isArray(reply) && reply[0] === "message") this.#pollNow();
          return false;
        },
        finish() {},
        broken() {},
      });
    } catch {
      this.#subscriptions.delete(sentinel);
    }
  }
}

/** The reply to `SENTINEL MASTER` alternates names and values. */
function epochOf(state: Reply): number {
  if (!Array.isArray(state)) return 0;
  const at = state.indexOf("config-epoch");
  return at < 0 ? 0 : Number(state[at + 1]);
}
