import { isUtf8 } from "node:buffer";
import { decodeLeniently } from "../text/lenient-utf8.ts";

/** Reads the protobuf wire format in place. Source: protobuf.dev/programming-guides/encoding. */

/** A message that does not have its type's format. Safe to show to callers: it contains no text of the message. */
export class WireError extends Error {
  override readonly name = "WireError";
  readonly code = "MALFORMED_MESSAGE";
}

export const WireType = { VARINT: 0, FIXED64: 1, BYTES: 2, GROUP: 3, GROUP_END: 4, FIXED32: 5 } as const;

/** From this many bytes on, a check costs little compared to decoding. */
const LONG = 1024;

/** A cursor over the bytes of one message. One reader serves all messages: call `reset` before each. */
export class WireReader {
  buffer: Uint8Array = new Uint8Array(0);
  /** The message in `buffer`. While a nested message is read, `end` is its end. */
  start = 0;
  end = 0;
  position = 0;
  /** Whether a text of this message was not UTF-8. */
  #hasIllFormedText = false;

  reset(buffer: Uint8Array, start: number, end: number): void {
    this.buffer = buffer;
    this.start = this.position = start;
    this.end = end;
    this.#hasIllFormedText = false;
  }

  /** Reads an unsigned varint of 32 bits. Truncates longer ones to their low 32 bits, as protobuf specifies. */
  uint32(): number {
    const { buffer } = this;
    let position = this.position;
    let byte = buffer[position++]!;
    if (byte < 0x80 && position <= this.end) {
      this.position = position;
      return byte;
    }
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (position > this.end) throw new WireError("the message ends inside a number");
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.position = position;
        return value >>> 0;
      }
      byte = buffer[position++]!;
    }
    throw new WireError("a number is longer than ten bytes");
  }

  /** Reads an unsigned varint of 64 bits, capped at 2^53 - 1, the largest exact integer. */
  uint64(): number {
    return Math.min(this.wideUint64(), Number.MAX_SAFE_INTEGER);
  }

  /** Reads an unsigned varint of 64 bits. Above 2^53 it is rounded, but never below 2^53. */
  wideUint64(): number {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.position >= this.end) throw new WireError("the message ends inside a number");
      const byte = this.buffer[this.position++]!;
      const bits = byte & 0x7f;
      if (shift < 28) low += bits * 2 ** shift;
      else high += (shift === 63 ? bits & 1 : bits) * 2 ** (shift - 28);
      if (byte < 0x80) {
        return low + high * 2 ** 28;
      }
    }
    throw new WireError("a number is longer than ten bytes");
  }

  /** Reads a varint as a boolean: true if any of its 64 bits is set. */
  bool(): boolean {
    return this.uint64() !== 0;
  }

  /** Reads the length of a length-delimited field. Returns the end of the field; the cursor is at its first byte. */
  lengthDelimited(): number {
    const length = this.uint32();
    const end = this.position + length;
    if (end > this.end) throw new WireError("a field is longer than its message");
    return end;
  }

  /** Decodes the bytes from `start` to `end`. Escapes bytes that are not UTF-8, see `text/lenient-utf8.ts`. */
  text(start: number, end: number): string {
    if (start === end) return "";
    const buffer = this.#asBuffer();
    let bits = 0;
    for (let index = start; index < end; index++) bits |= buffer[index]!;
    if (bits < 0x80) return buffer.toString("latin1", start, end);
    // Node's decoder first, on each of 3,200 values that are not UTF-8, took a fifth of the whole call.
    if (this.#hasIllFormedText) return decodeLeniently(buffer, start, end);
    // Node's decoder is slow for many bytes that are not UTF-8.
    if (end - start > LONG && !isUtf8(buffer.subarray(start, end))) return this.#illFormed(start, end);
    const text = buffer.toString("utf8", start, end);
    // Node's decoder writes U+FFFD for bytes that are not UTF-8, which would make different values equal.
    if (text.includes("\ufffd") && !isUtf8(buffer.subarray(start, end))) return this.#illFormed(start, end);
    return text;
  }

  #asBuffer(): Buffer {
    const { buffer } = this;
    return Buffer.isBuffer(buffer)
      ? buffer
      : Buffer.from(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  }

  #illFormed(start: number, end: number): string {
    this.#hasIllFormedText = true;
    return decodeLeniently(this.buffer, start, end);
  }

  /** Reads a tag: `number << 3 | wire type`. */
  tag(): number {
    const tag = this.uint32();
    if (tag >>> 3 === 0) throw new WireError("a field has the number 0");
    return tag;
  }
}
