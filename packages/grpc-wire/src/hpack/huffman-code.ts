/** The Huffman code of RFC 7541, appendix B. The code is canonical: the code lengths define it. */

/** The code lengths of the octets 0 to 255 and of EOS, in bits. */
// biome-ignore format: rows of 16
export const codeLengths: readonly number[] = [
	13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
	28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
	6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
	5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
	13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
	7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
	15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
	6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
	20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
	24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
	22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
	21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
	26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
	19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
	20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
	26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
  30,
];

export const EOS = 256;

/** The code of each symbol, right-aligned. Codes count up in canonical order: by length, then by symbol. */
export const codes: Uint32Array = (() => {
  const result = new Uint32Array(257);
  const symbols = [...codeLengths.keys()].sort((a, b) => codeLengths[a]! - codeLengths[b]! || a - b);
  let code = 0;
  let length = codeLengths[symbols[0]!]!;
  for (const symbol of symbols) {
    code = code * 2 ** (codeLengths[symbol]! - length);
    length = codeLengths[symbol]!;
    result[symbol] = code;
    code += 1;
  }
  return result;
})();
