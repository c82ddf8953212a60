import type { Count } from "../store.ts";
import type { Ticket } from "../transport/ticket.ts";
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
  nodes(): Iterable<StoreNode>;
  close(): void;
}
