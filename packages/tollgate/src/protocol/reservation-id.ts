/**
 * Ids of reservations: 32 hexadecimal digits of random bits, and 8 of the second in which the reservation was made. The
 * second finds the window of the reservation when a commit comes in a later one.
 */

/** An id as 32-bit words: four random ones, and the second. */
export type IdWords = readonly number[];

export const ID_WORDS = 5;
export const ID_DIGITS = 8 * ID_WORDS;

const ZERO = 48;
const LETTER_A = 97;

/** The two digits of each byte. */
const pairs = Buffer.from(Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString("hex"));

/** Writes the digits of an id. @returns the position behind them */
export function writeId(words: IdWords, bytes: Uint8Array, start: number): number {
  let at = start;
  for (let index = 0; index < ID_WORDS; index++) {
    const word = words[index]!;
    for (let shift = 23; shift >= -1; shift -= 8) {
      const pair = shift < 0 ? (word << 1) & 0x1fe : (word >>> shift) & 0x1fe;
      bytes[at++] = pairs[pair]!;
      bytes[at++] = pairs[pair + 1]!;
    }
  }
  return at;
}

/** Reads digits in lower case from {@link ID_DIGITS} bytes. @returns whether they are an id */
export function readId(bytes: Uint8Array, start: number, words: number[]): boolean {
  for (let index = 0; index < ID_WORDS; index++) {
    const first = start + 8 * index;
    let word = 0;
    for (let at = first; at < first + 8; at++) {
      const unit = bytes[at]!;
      const digit = unit >= LETTER_A ? unit - LETTER_A + 10 : unit - ZERO;
      if (digit < 0 || digit > 15 || (digit > 9 && unit < LETTER_A)) return false;
      word = (word << 4) | digit;
    }
    words[index] = word;
  }
  return true;
}

const text = Buffer.alloc(ID_DIGITS);

export function idText(words: IdWords): string {
  writeId(words, text, 0);
  return text.toString("latin1");
}

/** The words of an id; any other text as it is. */
export function idOf(id: string): IdWords | string {
  if (id.length !== ID_DIGITS) return id;
  const words: number[] = [];
  return readId(Buffer.from(id), 0, words) ? words : id;
}
