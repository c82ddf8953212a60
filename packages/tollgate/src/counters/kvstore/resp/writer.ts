/**
 * Writes commands of the Redis protocol (RESP2 arrays of bulk strings) into a buffer that each batch reuses. It takes
 * 0.3 to 0.45 µs for a decision. The fastest pipeline of a library takes 2.2 µs (docs/decisions).
 */
import type { StemPlace } from "../../store.ts";

const INITIAL_SIZE = 16 * 1024;
/** A larger buffer, grown by one huge batch, is released afterwards. */
const MAX_KEPT_SIZE = 1024 * 1024;

const LF = 10;

/** The start of a bulk string, by its size. */
const heads = Array.from({ length: 256 }, (_, size) => `$${size}\r\n`);

/** Encodes a command's array header and name, `*3\r\n$6\r\nINCRBY\r\n`. */
export function commandHead(parts: number, ...words: readonly string[]): Buffer {
  const fixed = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("");
  return Buffer.from(`*${parts}\r\n${fixed}`);
}

export class CommandWriter {
  buffer = Buffer.allocUnsafe(INITIAL_SIZE);
  length = 0;

  reset(): void {
    this.length = 0;
    if (this.buffer.length > MAX_KEPT_SIZE) this.buffer = Buffer.allocUnsafe(INITIAL_SIZE);
  }

  bytes(): Buffer {
    return this.buffer.subarray(0, this.length);
  }

  raw(bytes: Buffer): void {
    this.#room(bytes.length);
    this.#copy(bytes, 0, bytes.length);
  }

  /** Writes the key `stem + windowStart` as a bulk string. @param place the stem, instead of the text */
  key(stem: string, windowStart: number, place?: StemPlace): void {
    this.joined("", stem, String(windowStart), place);
  }

  /** Writes a text of three parts as a bulk string. @param place the middle, instead of the text: all parts are ASCII */
  joined(head: string, middle: string, tail: string, place?: StemPlace): void {
    const start = this.length;
    const size = place === undefined ? middle.length : place.end - place.start;
    this.begin(head.length + size + tail.length);
    let isAscii = this.#ascii(head);
    if (place !== undefined) this.#copy(place.bytes, place.start, place.end);
    else if (!this.#ascii(middle)) isAscii = false;
    if (this.#ascii(tail) && isAscii) this.end();
    else {
      this.length = start;
      this.text(head + middle + tail);
    }
  }

  /** Writes an integer as a bulk string. */
  integer(value: number): void {
    const digits = String(value);
    this.begin(digits.length);
    this.#ascii(digits);
    this.end();
  }

  /** Writes any text as a bulk string. */
  text(value: string): void {
    this.begin(Buffer.byteLength(value));
    this.length += this.buffer.write(value, this.length, "utf8");
    this.end();
  }

  /** Writes a whole command, off the hot path. */
  command(words: readonly string[]): void {
    this.raw(Buffer.from(`*${words.length}\r\n`));
    for (const word of words) this.text(word);
  }

  /** Begins a bulk string, and makes room for all of it. The caller writes its bytes at {@link length}, and ends it. */
  begin(size: number): void {
    this.#room(size + 24);
    this.#ascii(heads[size] ?? `$${size}\r\n`);
  }

  end(): void {
    this.#ascii("\r\n");
  }

  /** The stem of the ASCII key that began at a position. */
  stemAt(start: number, windowStart: number): string {
    const keyStart = this.buffer.indexOf(LF, start) + 1;
    const size = Number.parseInt(this.buffer.toString("latin1", start + 1, keyStart), 10);
    return this.buffer.toString("latin1", keyStart, keyStart + size - String(windowStart).length);
  }

  #room(bytes: number): void {
    const needed = this.length + bytes;
    if (needed <= this.buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, this.buffer.length * 2));
    this.buffer.copy(grown, 0, 0, this.length);
    this.buffer = grown;
  }

  /** Below about 50 bytes a loop is faster than `Buffer.copy`. Heads of commands have 20 to 70 bytes. */
  #copy(bytes: Uint8Array, start: number, end: number): void {
    const { buffer } = this;
    let at = this.length;
    for (let index = start; index < end; index++) buffer[at++] = bytes[index]!;
    this.length = at;
  }

  /** Writes a text, which is right if it is ASCII. There must be room. @returns whether it is */
  #ascii(text: string): boolean {
    const { buffer } = this;
    let at = this.length;
    let units = 0;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      units |= unit;
      buffer[at++] = unit;
    }
    this.length = at;
    return units < 128;
  }
}
