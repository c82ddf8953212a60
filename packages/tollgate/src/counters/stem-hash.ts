/**
 * A hash of a counter's key, the same from its bytes and from its text. It chooses the sampled keys, tells keys apart in the
 * top keys, and finds keys in a batch, among the known expiries and among the holds. It is fast (60 bytes take 15 ns) and not
 * safe against a caller who looks for collisions. Equal hashes blur figures for operators and cost further commands, but no
 * counter takes the hits of another one.
 */

/** Hashes the ASCII bytes `[start, end)` of the memory of `words`. @param start a multiple of 4 */
export function hashOfBytes(words: Int32Array, start: number, end: number, seed: number): number {
  let a = seed;
  let b = end - start;
  let at = start;
  for (const last = end - 8; at <= last; at += 8) {
    a = step(a, words[at >> 2]!);
    b = Math.imul(b ^ words[(at >> 2) + 1]!, 0xc2b2ae35);
    b = (b << 13) | (b >>> 19);
  }
  for (; at < end; at++) a = step(a, (words[at >> 2]! >>> (8 * (at & 3))) & 0xff);
  return finish(a, b);
}

/** The bytes of a text. */
const scratch = Buffer.allocUnsafeSlow(4096);
const scratchWords = new Int32Array(scratch.buffer);

/** Hashes a text. Characters that are not ASCII have no bytes in place, so that they only have to differ. */
export function hashOfText(text: string, seed: number): number {
  if (text.length <= scratch.length / 3) return hashOfBytes(scratchWords, 0, scratch.write(text), seed);
  const memory = Buffer.allocUnsafeSlow((Buffer.byteLength(text) + 3) & ~3);
  return hashOfBytes(new Int32Array(memory.buffer), 0, memory.write(text), seed);
}

function step(a: number, unit: number): number {
  const mixed = Math.imul(a ^ unit, 0x85ebca6b);
  return (mixed << 15) | (mixed >>> 17);
}

/** The final steps of MurmurHash3, so that every bit of the keys changes every bit of the hash. */
function finish(a: number, b: number): number {
  let hash = Math.imul(a, 0x9e3779b1) ^ b;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
