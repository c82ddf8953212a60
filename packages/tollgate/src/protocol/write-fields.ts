/** Writes fields of protobuf messages. Each function returns the end offset. */

export function varintSize(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  return value < 0x1000_0000 ? 4 : 5;
}

export function writeVarint(buffer: Uint8Array, offset: number, value: number): number {
  let at = offset;
  let rest = value;
  while (rest >= 0x80) {
    buffer[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  buffer[at++] = rest;
  return at;
}

/** A number. Omits zero, as proto3 specifies. */
export function writeNumber(buffer: Uint8Array, offset: number, tag: number, value: number): number {
  if (value === 0) return offset;
  buffer[offset] = tag;
  return writeVarint(buffer, offset + 1, value);
}

/** The tag and the length of a length-delimited field. */
export function writeTag(buffer: Uint8Array, offset: number, tag: number, length: number): number {
  buffer[offset] = tag;
  return writeVarint(buffer, offset + 1, length);
}

/** A text. Omits the empty one. */
export function writeString(buffer: Uint8Array, offset: number, tag: number, text: string): number {
  if (text === "") return offset;
  const at = writeTag(buffer, offset, tag, Buffer.byteLength(text));
  return at + writeUtf8(buffer, at, text);
}

/** @returns the number of bytes */
export function writeUtf8(buffer: Uint8Array, offset: number, text: string): number {
  const target = Buffer.isBuffer(buffer)
    ? buffer
    : Buffer.from(buffer.buffer, buffer.byteOffset, buffer.length);
  return target.write(text, offset);
}

/**
 * Writes the length of a field before its content, which is in `buffer[start..end)` behind one byte for the length. A
 * longer length moves the content.
 */
export function endField(buffer: Uint8Array, start: number, end: number): number {
  const length = end - start;
  if (length < 0x80) {
    buffer[start - 1] = length;
    return end;
  }
  const more = varintSize(length) - 1;
  buffer.copyWithin(start + more, start, end);
  writeVarint(buffer, start - 1, length);
  return end + more;
}
