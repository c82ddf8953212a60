/** Locks several shards for one request. All threads lock in the order of the shards, so they cannot deadlock. */
import type { Shard } from "./shard.ts";

/** @param mask a bit for each shard @throws {StoreError} STORE_UNAVAILABLE, with no shard locked */
export function lockShards(shards: readonly Shard[], mask: number): void {
  let held = 0;
  try {
    for (let index = 0; mask >>> index !== 0; index++) {
      if ((mask & (1 << index)) === 0) continue;
      shards[index]!.acquire();
      held |= 1 << index;
    }
  } catch (error) {
    unlockShards(shards, held);
    throw error;
  }
}

export function unlockShards(shards: readonly Shard[], mask: number): void {
  for (let index = 0; mask >>> index !== 0; index++)
    if ((mask & (1 << index)) !== 0) shards[index]!.release();
}
