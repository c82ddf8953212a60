/** Digests of keys, which identify the counters of holds. */
import { halfSipHash } from "./half-sip-hash.ts";
import type { KeyScratch } from "./key.ts";

/** Four 32-bit words, and the hash of the key, which chooses the shard. */
export type Digest = Int32Array;
export const DIGEST_INTS = 5;

/**
 * The digest of a key: HalfSipHash with 1 and 3 rounds and a result of 64 bits under the block's seeds, and the hash of
 * the key under another one. Callers choose keys and cannot make two digests equal, because they do not know the seeds.
 */
export function digestOf(key: KeyScratch, seeds: Int32Array, digest: Digest): void {
  digest[1] = halfSipHash(key.words, key.size, key.lengthField, seeds[0]!, seeds[1]!, digest);
  digest[2] = key.hash;
  digest[3] = key.lengthField;
  digest[4] = key.hash;
}
