/** Commands of an operator, on connections besides the pool, so that they never delay a decision. */
import { setTimeout as sleep } from "node:timers/promises";
import { StoreError } from "../store.ts";
import { unavailable } from "../transport/ticket.ts";
import type { Connection } from "./connection.ts";
import { ErrorReply, type Reply } from "./resp/reply.ts";
import { slotOf } from "./slots.ts";
import type { Topology } from "./topology.ts";

/** Milliseconds between two attempts, while slots move or a master changes. */
const RETRY_MS = 50;

/** Replies of a server that has done nothing: another server has the key, or will have it. */
const elsewhere = new Set(["MOVED", "ASK", "TRYAGAIN", "READONLY", "LOADING", "MASTERDOWN", "CLUSTERDOWN"]);

export class Control {
  readonly #topology: Pick<Topology, "open" | "servers">;
  readonly #timeout: number;
  /** Kept open, by slot: for the records that are read often. */
  readonly #kept = new Map<number, Connection>();
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  /** @param timeout milliseconds */
  constructor(topology: Pick<Topology, "open" | "servers">, timeout: number) {
    this.#topology = topology;
    this.#timeout = timeout;
  }

  /**
   * Runs commands on the server of a key, in one round trip.
   * @param keep whether to keep the connection for the next call with this key
   * @throws {StoreError} also for an error reply
   */
  run(key: string, commands: readonly (readonly string[])[], keep = false): Promise<readonly Reply[]> {
    // One at a time: a connection carries one exchange, and an operator needs no more.
    const result = this.#last.then(() => this.#run(slotOf(key), commands, keep));
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Uses a connection of its own to one server. @param use resolves with the result */
  async with<T>(open: () => Promise<Connection>, use: (connection: Connection) => Promise<T>): Promise<T> {
    try {
      const connection = await open();
      try {
        return await use(connection);
      } finally {
        connection.destroy();
      }
    } catch (error) {
      throw unavailable(error);
    }
  }

  servers(): readonly (() => Promise<Connection>)[] {
    return this.#topology.servers();
  }

  close(): void {
    this.#closed = true;
    for (const connection of this.#kept.values()) connection.destroy();
    this.#kept.clear();
  }

  async #run(slot: number, commands: readonly (readonly string[])[], keep: boolean) {
    const latest = performance.now() + this.#timeout;
    for (;;) {
      if (this.#closed) throw new StoreError("STORE_UNAVAILABLE", "the store is closed");
      const replies = await this.#once(slot, commands, keep);
      const fault = replies.find((reply) => reply instanceof ErrorReply);
      if (fault === undefined) return replies;
      const isFirst = replies[0] === fault;
      this.#drop(slot);
      if (!isFirst || !elsewhere.has(fault.code) || performance.now() > latest)
        throw new StoreError("STORE_UNAVAILABLE", `error reply of the store: ${fault.message}`);
      await sleep(RETRY_MS);
    }
  }

  async #once(slot: number, commands: readonly (readonly string[])[], keep: boolean) {
    try {
      const kept = this.#kept.get(slot);
      const connection = kept !== undefined && !kept.closed ? kept : await this.#topology.open(slot);
      try {
        if (keep && !this.#closed) this.#kept.set(slot, connection);
        return await connection.commands(commands);
      } finally {
        if (this.#kept.get(slot) !== connection) connection.destroy();
      }
    } catch (error) {
      this.#drop(slot);
      throw unavailable(error);
    }
  }

  #drop(slot: number): void {
    this.#kept.get(slot)?.destroy();
    this.#kept.delete(slot);
  }
}
