import type { StoreError } from "../store.ts";
import { reconnectDelay } from "../transport/connect.ts";
import type { Connection } from "./connection.ts";

/** The pool's figures for the statistics. */
export interface PoolGauges {
  /** Open connections. */
  cxActive: number;
  /** Connections that were ever opened. */
  cxTotal: number;
  /** Connections that this process closed. */
  cxLocalClose: number;
}

export interface PoolEvents {
  /** A connection became free. */
  free(): void;
  /** An overflow connection could not be opened. */
  overflowFailed(error: Error): void;
  /** The number of open connections changed, or the first attempt to connect failed. */
  changed(): void;
  /** A connection was lost, or could not be opened. */
  lost(error: Error): void;
}

/**
 * The connections to one server. The pool keeps `size` connections and reopens lost ones with a growing delay. Up to
 * `size` temporary overflow connections may be added. A taken connection belongs to its user until its release.
 */
export class ConnectionPool {
  /** Open connections, busy or free. */
  active = 0;
  /** Whether an attempt to connect has ended, with or without success. */
  attempted = false;
  readonly #size: number;
  readonly #connect: () => Promise<Connection>;
  readonly #gauges: PoolGauges;
  readonly #events: PoolEvents;
  readonly #all = new Set<Connection>();
  readonly #free: Connection[] = [];
  #connecting = 0;
  #overflowing = false;
  #failures = 0;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;
  /** Raised by `restart`: earlier attempts to connect are then discarded. */
  #generation = 0;

  constructor(size: number, connect: () => Promise<Connection>, gauges: PoolGauges, events: PoolEvents) {
    this.#size = size;
    this.#connect = connect;
    this.#gauges = gauges;
    this.#events = events;
  }

  get hasFree(): boolean {
    return this.#free.length > 0;
  }

  /** Opens missing connections: all at once normally, one at a time with a delay after a failure. */
  fill(): void {
    if (this.#closed || this.#retry !== undefined) return;
    const missing = this.#missing;
    if (missing <= 0) return;
    if (this.#failures === 0) for (let i = 0; i < missing; i++) this.#open(false);
    else if (this.#connecting === 0) {
      this.#retry = setTimeout(() => {
        this.#retry = undefined;
        if (this.#missing > 0) this.#open(false);
      }, reconnectDelay(this.#failures));
      this.#retry.unref();
    }
  }

  take(): Connection | undefined {
    return this.#free.pop();
  }

  /** Returns a connection after an exchange. @param healthy whether the server answered the exchange */
  release(connection: Connection, healthy: boolean, wanted: boolean): void {
    if (connection.closed) return;
    if (healthy) this.#failures = 0;
    if (this.#closed || (this.#all.size > this.#size && !wanted)) this.#drop(connection);
    else this.#free.push(connection);
  }

  /** Closes a connection to an unusable server (READONLY, LOADING). The next one is opened after a delay. */
  discard(connection: Connection): void {
    this.#failures++;
    this.#drop(connection);
  }

  /** Opens an overflow connection, up to twice the pool's size, with one attempt at a time. */
  overflow(): void {
    if (this.#closed || this.#overflowing || this.#all.size + this.#connecting >= this.#size * 2) return;
    this.#open(true);
  }

  /** Closes all connections and opens new ones, perhaps to another server. */
  restart(error: StoreError): void {
    this.#generation++;
    // The former server may hang. New connections do not wait for the attempts to reach it.
    this.#connecting = 0;
    this.#overflowing = false;
    for (const connection of [...this.#all]) this.#drop(connection, error);
    this.#failures = 0;
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.fill();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    for (const connection of [...this.#all]) this.#drop(connection);
  }

  get #missing(): number {
    return this.#size - this.#all.size - this.#connecting;
  }

  #drop(connection: Connection, error?: StoreError): void {
    if (connection.closed) return;
    this.#gauges.cxLocalClose++;
    connection.destroy(error);
  }

  #open(overflow: boolean): void {
    if (overflow) this.#overflowing = true;
    else this.#connecting++;
    const generation = this.#generation;
    const isStale = () => this.#closed || generation !== this.#generation;
    const ended = () => {
      if (overflow) this.#overflowing = false;
      else this.#connecting--;
    };
    const failed = (error: Error) => {
      if (isStale()) return;
      ended();
      this.#failures++;
      const first = !this.attempted;
      this.attempted = true;
      this.#events.lost(error);
      if (first) this.#events.changed();
      if (overflow) this.#events.overflowFailed(error);
      this.fill();
    };
    this.#connect().then((connection) => {
      if (isStale()) connection.destroy();
      else if (connection.closed) failed(new Error("the server closed the connection at once"));
      else {
        ended();
        this.#add(connection);
      }
    }, failed);
  }

  #add(connection: Connection): void {
    this.attempted = true;
    this.#all.add(connection);
    this.active++;
    this.#gauges.cxActive++;
    this.#gauges.cxTotal++;
    connection.onClose((error) => {
      this.#all.delete(connection);
      const at = this.#free.indexOf(connection);
      if (at >= 0) this.#free.splice(at, 1);
      this.active--;
      this.#gauges.cxActive--;
      if (!this.#closed) this.#events.lost(error);
      this.#events.changed();
      this.fill();
    });
    this.#free.push(connection);
    this.#events.changed();
    this.#events.free();
    // The server is reachable: open the others without a delay. The count of failures stays, for servers that refuse work.
    for (let missing = this.#missing; missing > 0; missing--) this.#open(false);
  }
}
