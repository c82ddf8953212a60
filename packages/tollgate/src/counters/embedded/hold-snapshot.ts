/**
 * The part of a snapshot for holds. Digests and hashes are under random keys, so a snapshot with holds carries these
 * keys, and the store that reads it takes them over.
 *
 * ```
 * keys    of the hash (two i32), of the digests (four i32)
 * record  kind (u32), hash of the counter's key (i32), key and ledger as in `hold-layout.ts` (four i32 each), hits, when
 *         it stops counting, end (f64 each)
 * ```
 */
import type { CounterTable } from "./counter-table.ts";
import { Kind, SEEDS } from "./hold-layout.ts";
import type { ShownHold } from "./holds.ts";
import { HEADER_HASH_KEY } from "./layout.ts";

export const HASH_KEYS_BYTES: number = (2 + SEEDS) * 4;
const RECORD_BYTES = 64;

export function hasHolds({ shards }: CounterTable): boolean {
  return shards.some(({ holds }) => holds?.isEmpty === false);
}

export function hashKeysOf(table: CounterTable): Buffer {
  const bytes = Buffer.alloc(HASH_KEYS_BYTES);
  for (const [index, key] of hashKeys(table).entries()) bytes.writeInt32LE(key, index * 4);
  return bytes;
}

/** Takes over the keys of a snapshot. The table must be empty, and have no keys in use. */
export function setHashKeys(table: CounterTable, bytes: Buffer): void {
  const { ints } = table.block;
  ints[HEADER_HASH_KEY] = bytes.readInt32LE(0);
  ints[HEADER_HASH_KEY + 1] = bytes.readInt32LE(4);
  const seeds = table.shards[0]!.holds?.seeds;
  for (let index = 0; index < SEEDS; index++) seeds?.fill(bytes.readInt32LE(8 + index * 4), index, index + 1);
}

function hashKeys({ block, shards }: CounterTable): readonly number[] {
  const { ints } = block;
  return [ints[HEADER_HASH_KEY]!, ints[HEADER_HASH_KEY + 1]!, ...shards[0]!.holds!.seeds];
}

/** The holds of one shard after the other. @param now milliseconds */
export function* holdRecords({ shards }: CounterTable, now: number): Generator<readonly ShownHold[]> {
  for (const shard of shards) {
    shard.acquire();
    const shown = shard.holds?.show(now) ?? [];
    shard.release();
    yield shown;
  }
}

/** @returns the position after the record */
export function writeHold(hold: ShownHold, block: Buffer, start: number): number {
  let at = block.writeUInt32LE(hold.kind, start);
  at = block.writeInt32LE(hold.hash, at);
  for (const part of [...hold.key, ...hold.ledger]) at = block.writeInt32LE(part, at);
  at = block.writeDoubleLE(hold.amount, at);
  at = block.writeDoubleLE(hold.until, at);
  return block.writeDoubleLE(hold.end, at);
}

/** Adds the holds of a block that have not ended. @returns false for a damaged block */
export function addHolds(table: CounterTable, payload: Buffer, now: number): boolean {
  if (payload.length % RECORD_BYTES !== 0) return false;
  for (let start = 0; start < payload.length; start += RECORD_BYTES) {
    const hold = readHold(payload, start);
    if (!isValid(hold)) return false;
    if (hold.end <= now) continue;
    const shard = table.shards[table.shardIndexOf(hold.hash)]!;
    shard.acquire();
    shard.holds?.restore(hold);
    shard.release();
  }
  return true;
}

function readHold(payload: Buffer, start: number): ShownHold {
  const part = (at: number) => [0, 4, 8, 12].map((offset) => payload.readInt32LE(start + at + offset));
  return {
    kind: payload.readUInt32LE(start),
    hash: payload.readInt32LE(start + 4),
    key: part(8),
    ledger: part(24),
    amount: payload.readDoubleLE(start + 40),
    until: payload.readDoubleLE(start + 48),
    end: payload.readDoubleLE(start + 56),
  };
}

function isValid({ kind, amount, until, end }: ShownHold): boolean {
  const isKind = kind === Kind.HOLD || kind === Kind.LAPSED || kind === Kind.COMMITTED;
  return (
    isKind && Number.isSafeInteger(amount) && amount >= 0 && Number.isFinite(until) && Number.isFinite(end)
  );
}
