/** Digests of keys, which identify the counters of holds. */
import type { KeyScratch } from "./key.ts";

/** Four 32-bit words, and the hash of the key, which chooses the shard. */
export type Digest = Int32Array;
export const DIGEST_INTS = 5;

/**
 * The digest of a key: HalfSipHash with 1 and 3 rounds and a result of 64 bits under the block's seeds, and the hash of
 * the key under another one. Callers choose keys and cannot make two digests equal, because they do not know the seeds.
 */
export function digestOf(key: KeyScratch, seeds: Int32Array, digest: Digest): void {
  half(key, seeds[0]!, seeds[1]!, digest);
  digest[2] = key.hash;
  digest[3] = key.lengthField;
  digest[4] = key.hash;
}

function half({ words, size, lengthField }: KeyScratch, key0: number, key1: number, digest: Digest): void {
  let v0 = key0;
  let v1 = key1 ^ 0xee;
  let v2 = key0 ^ 0x6c796765;
  let v3 = key1 ^ 0x74656462;
  // One round for each word, one for the length, three for each half of the result.
  const rounds = size + 7;
  for (let round = 0; round < rounds; round++) {
    let message = 0;
    if (round < size) message = words[round]!;
    else if (round === size) message = lengthField;
    else if (round === size + 1) v2 ^= 0xee;
    else if (round === size + 4) {
      digest[0] = v1 ^ v3;
      v1 ^= 0xdd;
    }
    v3 ^= message;
    v0 = (v0 + v1) | 0;
    v1 = (v1 << 5) | (v1 >>> 27);
    v1 ^= v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = (v3 << 8) | (v3 >>> 24);
    v3 ^= v2;
    v0 = (v0 + v3) | 0;
    v3 = (v3 << 7) | (v3 >>> 25);
    v3 ^= v0;
    v2 = (v2 + v1) | 0;
    v1 = (v1 << 13) | (v1 >>> 19);
    v1 ^= v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= message;
  }
  digest[1] = v1 ^ v3;
}
