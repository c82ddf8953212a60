import { DynamicTable } from "./dynamic-table.ts";
import { FieldKind, fieldKind, HeaderField, hasValidEnds, isValidName, isValidValue } from "./field.ts";
import { decodedControl, huffmanDecode } from "./huffman-decoder.ts";
import { RepeatedLiterals } from "./repeated-literals.ts";
import { staticTable } from "./static-table.ts";

const staticFields = staticTable.map(
  ([name, value]) => new HeaderField(name, fieldKind(name), true, value, value.length),
);
const STATIC_COUNT = 61;

/** The size of the decoder's table: the default of SETTINGS_HEADER_TABLE_SIZE, so the server does not send this setting. */
export const HEADER_TABLE_SIZE = 4096;

/** A buffer for decoded octets, before they become JavaScript strings. It grows with the largest string. */
let scratch = Buffer.allocUnsafeSlow(16 * 1024);

/** Longer values become texts at once. */
const MAX_KEPT_VALUE = 512;
/** The maximum size of a buffer of kept values. The first one is small, because most connections have few fields. */
const MAX_KEPT_BYTES = 8 * 1024;

/** Decodes the header blocks of one connection (RFC 7541). After each block, `listSize` is the size of its list. */
export class HpackDecoder {
  readonly #table = new DynamicTable(HEADER_TABLE_SIZE);
  readonly #repeated = new RepeatedLiterals();
  /** The last field used the dynamic table. */
  #usedTable = false;
  /**
   * The octets of the last values in the dynamic table. A value becomes a text when somebody reads it, which saves 80 of 150 ns
   * for a field that differs in each call, such as a trace. The values of a table follow each other in at most a few buffers.
   */
  #kept = Buffer.allocUnsafeSlow(0);
  #keptBytes = 0;
  /** The position in the block. */
  #at = 0;
  /** The size of the last block's list (RFC 9113 section 10.5.1), including dropped fields. */
  listSize = 0;

  /**
   * Decodes the block `bytes[start, end)`. Fields beyond `maxListSize` are decoded, because they can change the dynamic
   * table, and dropped: a block of one-byte references to a large entry takes no memory. Returns undefined for an invalid
   * block, a connection error of type COMPRESSION_ERROR.
   */
  decode(bytes: Buffer, start: number, end: number, maxListSize: number): HeaderField[] | undefined {
    const fields: HeaderField[] = [];
    let listSize = 0;
    let position = -1;
    let sizeUpdateAllowed = true;
    this.#at = start;
    while (this.#at < end) {
      const first = bytes[this.#at]!;
      let field: HeaderField | undefined;
      if (first >= 0x80) {
        const index = this.#integer(bytes, end, 0x7f);
        field = index > 0 ? this.#lookup(index) : undefined;
      } else if (first >= 0x40) {
        field = this.#literal(bytes, end, 0x3f, true);
        if (field !== undefined) this.#table.add(field);
      } else if (first >= 0x20) {
        const size = this.#integer(bytes, end, 0x1f);
        if (!sizeUpdateAllowed || size < 0 || size > HEADER_TABLE_SIZE) return undefined;
        this.#table.resize(size);
        continue;
      } else {
        field = this.#unindexed(++position, bytes, end);
      }
      if (field === undefined) return undefined;
      sizeUpdateAllowed = false;
      listSize += field.size;
      if (listSize <= maxListSize) fields.push(field);
    }
    this.listSize = listSize;
    return fields;
  }

  #lookup(index: number): HeaderField | undefined {
    if (index <= STATIC_COUNT) return staticFields[index - 1];
    this.#usedTable = true;
    return this.#table.get(index - STATIC_COUNT - 1);
  }

  /** @param position among the literals without indexing of the block */
  #unindexed(position: number, bytes: Buffer, end: number): HeaderField | undefined {
    const repeated = this.#repeated;
    const start = this.#at;
    const known = repeated.match(position, bytes, start, end);
    if (known !== undefined) {
      this.#at = repeated.end;
      return known;
    }
    this.#usedTable = false;
    const field = this.#literal(bytes, end, 0x0f, false);
    if (field !== undefined && !this.#usedTable) repeated.add(position, bytes, start, this.#at, field);
    return field;
  }

  /** @param isKept the field enters the dynamic table, and its value becomes a text on first use */
  #literal(bytes: Buffer, end: number, prefix: number, isKept: boolean): HeaderField | undefined {
    const index = this.#integer(bytes, end, prefix);
    if (index < 0) return undefined;
    let name: string;
    let kind: number;
    let valid: boolean;
    if (index === 0) {
      const nameEnd = this.#string(bytes, end, false);
      if (nameEnd < 0) return undefined;
      name = source.toString("latin1", textStart, nameEnd);
      kind = fieldKind(name);
      valid = isValidName(name);
    } else {
      const named = this.#lookup(index);
      if (named === undefined) return undefined;
      name = named.name;
      kind = named.kind;
      valid = named.valid || kind !== FieldKind.OTHER || isValidName(name);
    }
    const valueEnd = this.#string(bytes, end, isKept);
    if (valueEnd < 0) return undefined;
    // The Huffman decoder has already detected the forbidden octets.
    if (valid)
      valid = isCoded
        ? !decodedControl && hasValidEnds(source, textStart, valueEnd)
        : isValidValue(source, textStart, valueEnd);
    const length = valueEnd - textStart;
    if (source !== this.#kept)
      return new HeaderField(name, kind, valid, source.toString("latin1", textStart, valueEnd), length);
    this.#keptBytes = valueEnd;
    return new HeaderField(name, kind, valid, source, length, textStart);
  }

  /**
   * Reads a string (section 5.2). Its octets are `source[textStart, end)`, where `end` is the returned position. Returns -1
   * for a truncated string or invalid Huffman code.
   */
  #string(bytes: Buffer, end: number, isKept: boolean): number {
    if (this.#at >= end) return -1;
    isCoded = bytes[this.#at]! >= 0x80;
    const length = this.#integer(bytes, end, 0x7f);
    const from = this.#at;
    if (length < 0 || length > end - from) return -1;
    this.#at = from + length;
    if (isKept && length <= MAX_KEPT_VALUE) {
      if (this.#kept.length - this.#keptBytes < 2 * length) this.#growKept();
      source = this.#kept;
      textStart = this.#keptBytes;
      if (!isCoded) bytes.copy(source, textStart, from, this.#at);
    } else {
      if (length * 2 > scratch.length) scratch = Buffer.allocUnsafeSlow(length * 2);
      source = isCoded ? scratch : bytes;
      textStart = isCoded ? 0 : from;
    }
    return isCoded ? huffmanDecode(bytes, from, this.#at, source, textStart) : textStart + length;
  }

  #growKept(): void {
    const size = Math.min(MAX_KEPT_BYTES, Math.max(2 * MAX_KEPT_VALUE, 2 * this.#kept.length));
    this.#kept = Buffer.allocUnsafeSlow(size);
    this.#keptBytes = 0;
  }

  /** Reads an integer (section 5.1) with the prefix bits `mask`. Returns -1 when it is truncated or longer than five octets. */
  #integer(bytes: Buffer, end: number, mask: number): number {
    let value = bytes[this.#at++]! & mask;
    if (value < mask) return value;
    for (let shift = 0; shift < 28; shift += 7) {
      if (this.#at >= end) return -1;
      const octet = bytes[this.#at++]!;
      value += (octet & 0x7f) << shift;
      if (octet < 0x80) return value;
    }
    return -1;
  }
}

/** The place of the last string's octets. Module variables avoid an object for each string. */
let source: Buffer = scratch;
let textStart = 0;
let isCoded = false;
