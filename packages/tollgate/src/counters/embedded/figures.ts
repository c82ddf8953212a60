import type { CounterTable } from "./counter-table.ts";
import {
  SHARD_EVICTED,
  SHARD_EVICTED_PROTECTED,
  SHARD_EXPIRED,
  SHARD_LIVE,
  SHARD_TAKEOVERS,
} from "./layout.ts";
import type { StateShard } from "./state-shard.ts";

/** Figures for gauges. */
export interface EmbeddedStoreStatistics {
  /** Current counters, including counters of ended windows that are not reclaimed yet. */
  readonly liveCounters: number;
  /** Bytes of the segments in use. */
  readonly bytesUsed: number;
  readonly sizeInBytes: number;
  /** Counters that a full store evicted before their window's end. */
  readonly evicted: number;
  /** Evicted counters that had used up their limit. */
  readonly evictedProtected: number;
  /** Counters dropped after their window's end. */
  readonly expired: number;
  /** Locks that were taken over from ended threads. */
  readonly takeovers: number;
}

/** Sums the figures of all shards. Needs no lock. */
export function statisticsOf({ block, shards }: CounterTable): EmbeddedStoreStatistics {
  const { buffer, layout } = block;
  const sum = (figure: (shard: StateShard) => number) =>
    shards.reduce((total, shard) => total + figure(shard), 0);
  return {
    liveCounters: sum((shard) => shard.figure(SHARD_LIVE)),
    bytesUsed: sum((shard) => shard.segmentsInUse()) * layout.segmentWords * 8,
    sizeInBytes: buffer.byteLength,
    evicted: sum((shard) => shard.figure(SHARD_EVICTED)),
    evictedProtected: sum((shard) => shard.figure(SHARD_EVICTED_PROTECTED)),
    expired: sum((shard) => shard.figure(SHARD_EXPIRED)),
    takeovers: sum((shard) => shard.figure(SHARD_TAKEOVERS)),
  };
}
