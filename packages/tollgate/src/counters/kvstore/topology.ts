import type { AcquireGroup, Count } from "../store.ts";
import type { Endpoint } from "../transport/endpoint.ts";
import type { Ticket } from "../transport/ticket.ts";
import type { AcquireStep } from "./acquire-step.ts";
import type { Connection } from "./connection.ts";
import type { StoreNode } from "./node.ts";

/** The servers of an instance: routes each count to its server. */
export interface Topology {
  /**
   * Queues a ticket's counts at their servers.
   * @throws {StoreError} STORE_FULL if a queue is full. Then no count was queued.
   */
  submit(ticket: Ticket): void;
  /** Splits counts that may hold each other back into groups for one script each; undefined for one group. */
  groups(counts: readonly Count[]): readonly (readonly Count[])[] | undefined;
  /**
   * Queues the steps of a ticket, one for each slot, at their servers.
   * @throws {StoreError} STORE_FULL if a queue is full. Then nothing was queued.
   */
  submitSteps(steps: readonly AcquireStep[], ticket: Ticket): void;
  /** The slot of a group's keys. Groups of one slot can share a script call. */
  slotOf(group: AcquireGroup): number;
  nodes(): Iterable<StoreNode>;
  /**
   * Opens a connection besides the pool to the server of a slot. The caller closes it.
   * @param exchangeTimeout milliseconds. Default: the store's timeout
   */
  open(slot: number, exchangeTimeout?: number): Promise<Connection>;
  /** Whether a server still has a slot, as far as this process knows. */
  serves(slot: number, endpoint: Endpoint): boolean;
  /** Whether each server has a part of the keys: a cluster. */
  readonly isSharded: boolean;
  /** Opens such connections to each server that holds keys, in a stable order. */
  servers(): readonly (() => Promise<Connection>)[];
  close(): void;
}
