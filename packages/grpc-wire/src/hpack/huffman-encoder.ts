import { codeLengths, codes } from "./huffman-code.ts";

/** Returns the number of octets that `huffmanEncode` writes for `text` (octets as latin1 characters). */
export function huffmanLength(text: string): number {
  let bits = 0;
  for (let at = 0; at < text.length; at++) bits += codeLengths[text.charCodeAt(at)]!;
  return (bits + 7) >>> 3;
}

/** Writes the code of `text` (octets as latin1 characters) at `at`. Returns the position after it. */
export function huffmanEncode(text: string, out: Uint8Array, at: number): number {
  let held = 0;
  let bits = 0;
  for (let index = 0; index < text.length; index++) {
    const symbol = text.charCodeAt(index);
    // Up to 7 held bits and a code of up to 30 bits exceed 32 bits, so a long code is written in two parts.
    const length = codeLengths[symbol]!;
    const high = length > 16 ? length - 16 : 0;
    if (high > 0) {
      held = (held << high) | (codes[symbol]! >>> 16);
      bits += high;
      for (; bits >= 8; bits -= 8) out[at++] = held >>> (bits - 8);
    }
    const low = length - high;
    held = ((held & 0xff) << low) | (codes[symbol]! & ((1 << low) - 1));
    bits += low;
    for (; bits >= 8; bits -= 8) out[at++] = held >>> (bits - 8);
  }
  if (bits > 0) out[at++] = (held << (8 - bits)) | (0xff >>> bits);
  return at;
}
