/**
 * HalfSipHash with 1 and 3 rounds (as in Linux hash tables) of words, with the length as the last word.
 * @param wide if given, the result has 64 bits and this is where its first half is stored: another function, not a part of it
 * @returns the result of 32 bits, or the second half of the one of 64
 */
export function halfSipHash(
  words: Int32Array,
  size: number,
  length: number,
  key0: number,
  key1: number,
  wide?: Int32Array,
): number {
  const isWide = wide !== undefined;
  let v0 = key0;
  let v1 = isWide ? key1 ^ 0xee : key1;
  let v2 = key0 ^ 0x6c796765;
  let v3 = key1 ^ 0x74656462;
  // One round for each word, one for the length, three for each half of the result.
  const rounds = isWide ? size + 7 : size + 4;
  for (let round = 0; round < rounds; round++) {
    let message = 0;
    if (round < size) message = words[round]!;
    else if (round === size) message = length;
    else if (round === size + 1) v2 ^= isWide ? 0xee : 0xff;
    else if (isWide && round === size + 4) {
      wide[0] = v1 ^ v3;
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
  return v1 ^ v3;
}
