import { huffmanEncode, huffmanLength } from "./huffman-encoder.ts";
import { staticTable } from "./static-table.ts";

const nameIndex = new Map<string, number>();
const fieldIndex = new Map<string, number>();
for (const [index, [name, value]] of staticTable.entries()) {
  if (!nameIndex.has(name)) nameIndex.set(name, index + 1);
  if (value !== "") fieldIndex.set(`${name}\0${value}`, index + 1);
}

function writeInteger(out: number[], flags: number, mask: number, value: number): void {
  if (value < mask) {
    out.push(flags | value);
    return;
  }
  out.push(flags | mask);
  let rest = value - mask;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) out.push((rest % 0x80) | 0x80);
  out.push(rest);
}

function writeString(out: number[], text: string): void {
  const coded = huffmanLength(text);
  if (coded < text.length) {
    writeInteger(out, 0x80, 0x7f, coded);
    const bytes = new Uint8Array(coded);
    huffmanEncode(text, bytes, 0);
    for (const octet of bytes) out.push(octet);
  } else {
    writeInteger(out, 0, 0x7f, text.length);
    for (let at = 0; at < text.length; at++) out.push(text.charCodeAt(at));
  }
}

/**
 * Encodes a header list without the dynamic table. The result is valid at any position on any connection, so responses
 * can be templates. Values are octets as latin1 characters.
 */
export function encodeHeaders(fields: readonly (readonly [name: string, value: string])[]): Uint8Array {
  const out: number[] = [];
  for (const [name, value] of fields) {
    const whole = fieldIndex.get(`${name}\0${value}`);
    if (whole !== undefined) {
      writeInteger(out, 0x80, 0x7f, whole);
      continue;
    }
    const index = nameIndex.get(name) ?? 0;
    writeInteger(out, 0, 0x0f, index);
    if (index === 0) writeString(out, name);
    writeString(out, value);
  }
  return Uint8Array.from(out);
}
