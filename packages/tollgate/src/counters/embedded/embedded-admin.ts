/** Administration of the counters of this process. */
import type {
  AdminRecords,
  CounterAdmin,
  CounterPlace,
  CounterSearch,
  FoundCounter,
  FoundCounters,
  Grant,
} from "../counter-admin.ts";
import { AdminStoreError, hasPrefix } from "../counter-admin.ts";
import { MemoryRecords } from "../memory-records.ts";
import type { CounterTable } from "./counter-table.ts";
import { keyText } from "./key.ts";
import { lockShards, unlockShards } from "./shard-locks.ts";
import type { ShownEntry } from "./shown-entries.ts";
import { insertState, writeState } from "./write-state.ts";

const nothing = { at: 0, level: 0, previous: 0 };

/** Segments that one call examines: 8 KiB each, up to 64 MiB. */
const MOST_SEGMENTS = 8192;
/** Segments between two turns of the event loop. */
const SEGMENTS_PER_TURN = 64;

export class EmbeddedAdmin implements CounterAdmin {
  readonly records: AdminRecords;
  readonly #table: CounterTable;

  constructor(table: CounterTable, records: AdminRecords = new MemoryRecords()) {
    this.#table = table;
    this.records = records;
  }

  /** Locks all shards of the limits, so that no thread decides between two of them. */
  async reset(places: readonly CounterPlace[]): Promise<void> {
    const { shards } = this.#table;
    const parts = places.map((place) => {
      const key = this.#table.newKey();
      key.encode(place);
      return { key, start: place.windowStart, shard: this.#table.shardOf(key) };
    });
    const mask = parts.reduce((all, { shard }) => all | (1 << shard.index), 0);
    lockShards(shards, mask);
    for (const { key, start, shard } of parts) {
      const entry = shard.find(key, start);
      if (entry !== 0) shard.writeState(entry, nothing, false);
    }
    unlockShards(shards, mask);
  }

  async grant({ limit, hits, now }: Grant): Promise<void> {
    const key = this.#table.newKey();
    key.encode(limit);
    const shard = this.#table.shardOf(key);
    const state = { ...nothing };
    shard.acquire();
    const entry = shard.find(key, limit.windowStart);
    if (entry !== 0) shard.readState(entry, state);
    limit.algorithm.advance(state, limit, now * 1000);
    limit.algorithm.grant!(state, hits);
    if (entry !== 0) writeState(shard, entry, limit, state, now);
    else insertState(shard, key, limit, state, now);
    shard.release();
  }

  async search({ prefix, from, most }: CounterSearch): Promise<FoundCounters> {
    const { shards, block } = this.#table;
    const memory = Buffer.from(block.buffer);
    const counters: FoundCounter[] = [];
    const visit = (entry: ShownEntry) => {
      if (entry.count === 0 && entry.more.every((word) => word === 0)) return;
      const key = keyText(entry.lengthField, memory, entry.keyAt);
      if (key === undefined || !hasPrefix(key, prefix)) return;
      counters.push({ key: key.endsWith(":") ? key + entry.start : key, level: entry.count });
    };
    let [shardIndex, segment] = placeOf(from, shards.length);
    for (let examined = 0; shardIndex < shards.length; ) {
      const shard = shards[shardIndex]!;
      if (segment >= shard.segmentsTouched()) {
        shardIndex += 1;
        segment = 0;
        continue;
      }
      if (counters.length >= most || examined >= MOST_SEGMENTS)
        return { counters, next: `${shardIndex}.${segment}` };
      shard.acquire();
      shard.forEach(segment, visit);
      shard.release();
      segment += 1;
      examined += 1;
      if (examined % SEGMENTS_PER_TURN === 0) await new Promise(setImmediate);
    }
    return { counters, next: undefined };
  }

  async close(): Promise<void> {}
}

function placeOf(from: string, shards: number): [shard: number, segment: number] {
  if (from === "") return [0, 0];
  const [, shard, segment] = /^(\d{1,3})\.(\d{1,9})$/.exec(from) ?? [];
  if (shard === undefined || Number(shard) >= shards)
    throw new AdminStoreError("BAD_CURSOR", "must be the `next` of an earlier answer");
  return [Number(shard), Number(segment)];
}
