/**
 * Administration of counters in memcached. It can drop counters. It has no search, and keeps no records: memcached may
 * drop any entry at any time.
 */
import {
  type AdminRecords,
  AdminStoreError,
  type CounterAdmin,
  type CounterPlace,
  type CounterSearch,
  type FoundCounters,
} from "../counter-admin.ts";
import { type Count, HoldBack, MAX_COUNT, Outcome, Refuses } from "../store.ts";
import type { ObjcacheStore } from "./objcache.ts";

export class ObjcacheAdmin implements CounterAdmin {
  readonly records: AdminRecords | undefined = undefined;
  readonly #store: Pick<ObjcacheStore, "count" | "flushed">;

  constructor(store: Pick<ObjcacheStore, "count" | "flushed">) {
    this.#store = store;
  }

  /** Refunds all hits. A deleted key would be created again by the next increment of another process, without its window. */
  async reset(places: readonly CounterPlace[]): Promise<void> {
    const counts = places.map(
      ({ stem, windowStart, windowSize }): Count => ({
        stem,
        windowStart,
        windowSize,
        hits: -MAX_COUNT,
        limit: 0,
        refuses: Refuses.NEVER,
        outcome: Outcome.COUNTED,
        after: 0,
      }),
    );
    await this.#store.count({ counts, holdBack: HoldBack.NEVER, now: Date.now(), deadline: 0 });
    await this.#store.flushed();
  }

  async grant(): Promise<void> {
    throw new AdminStoreError("UNSUPPORTED", "memcached keeps no token buckets");
  }

  async search(_search: CounterSearch): Promise<FoundCounters> {
    throw new AdminStoreError(
      "UNSUPPORTED",
      "memcached cannot list its keys: name the descriptor of a counter",
    );
  }

  async close(): Promise<void> {}
}
