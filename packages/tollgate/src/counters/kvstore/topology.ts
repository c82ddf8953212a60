import type { Count } from "../store.ts";
import type { Ticket } from "../transport/ticket.ts";
import type { StoreNode } from "./node.ts";

/** Which servers there are, and which of them a count goes to. */
export interface Topology {
  /**
   * Puts a ticket's counts where they wait for a connection.
   * @throws {StoreError} STORE_FULL when there is no room; nothing was put anywhere then
   */
  submit(ticket: Ticket): void;
  /** Splits counts that may hold each other back into groups that one script can count; undefined for one group. */
  groups(counts: readonly Count[]): readonly (readonly Count[])[] | undefined;
  nodes(): Iterable<StoreNode>;
  close(): void;
}
