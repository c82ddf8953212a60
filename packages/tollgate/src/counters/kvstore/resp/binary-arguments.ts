/** Arguments of scripts that are not texts. */
import type { Words } from "./words.ts";
import type { CommandWriter } from "./writer.ts";

/** The two hexadecimal digits of each byte. */
const hexadecimals = Buffer.from(Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString("hex"));

/** Writes 32-bit words as a bulk string of hexadecimal digits. */
export function writeHexadecimal(writer: CommandWriter, words: readonly number[]): void {
  writer.begin(8 * words.length);
  const { buffer } = writer;
  for (const word of words)
    for (let shift = 24; shift >= 0; shift -= 8) {
      const pair = 2 * ((word >>> shift) & 0xff);
      buffer[writer.length++] = hexadecimals[pair]!;
      buffer[writer.length++] = hexadecimals[pair + 1]!;
    }
  writer.end();
}

/** Writes words as one bulk string. */
export function writeWords(writer: CommandWriter, ...parts: readonly Words[]): void {
  let size = 0;
  for (const { bytes } of parts) size += bytes.length;
  writer.begin(size);
  for (const { bytes } of parts) writer.length += bytes.copy(writer.buffer, writer.length);
  writer.end();
}
