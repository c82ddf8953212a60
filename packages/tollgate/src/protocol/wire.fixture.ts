/** Writes length-delimited and number fields, also sequences that no correct encoder writes. For tests. */
export class WireWriter {
  readonly #parts: Buffer[] = [];

  bytes(field: number, value: Uint8Array): this {
    this.#parts.push(varint((field << 3) | 2), varint(value.length), Buffer.from(value));
    return this;
  }

  number(field: number, value: number): this {
    this.#parts.push(varint(field << 3), varint(value));
    return this;
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}
