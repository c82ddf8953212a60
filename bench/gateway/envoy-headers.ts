import { huffmanEncode, huffmanLength } from "../../packages/grpc-wire/src/hpack/huffman-encoder.ts";

/** The size of a client's dynamic table (RFC 7541 section 4.2), and the overhead of each entry in it. */
const TABLE_BYTES = 4096;
const ENTRY_OVERHEAD = 32;
const MOST_ENTRIES = TABLE_BYTES / ENTRY_OVERHEAD;
const STATIC_ENTRIES = 61;
const TRACE = "traceparent";
const TRACE_BYTES = "00-".length + 32 + "-".length + 16 + "-01".length;

/** Writes an HPACK integer with `flags` above a prefix of `mask`. Returns the position after it. */
function writeInteger(out: Uint8Array, at: number, flags: number, mask: number, value: number): number {
  if (value < mask) {
    out[at] = flags | value;
    return at + 1;
  }
  out[at] = flags | mask;
  let end = at + 1;
  let rest = value - mask;
  for (; rest >= 0x80; rest >>>= 7) out[end++] = rest | 0x80;
  out[end] = rest;
  return end + 1;
}

function writeBytes(out: Uint8Array, at: number, bytes: Uint8Array): number {
  for (let index = 0; index < bytes.length; index++) out[at + index] = bytes[index]!;
  return at + bytes.length;
}

/** Returns a string, Huffman coded if that is shorter. */
function string(text: string): Uint8Array {
  const length = huffmanLength(text);
  const isCoded = length < text.length;
  const bytes = new Uint8Array(text.length + 5);
  const start = writeInteger(bytes, 0, isCoded ? 0x80 : 0, 0x7f, isCoded ? length : text.length);
  if (!isCoded) return bytes.subarray(0, writeBytes(bytes, start, Buffer.from(text, "latin1")));
  huffmanEncode(text, bytes, start);
  return bytes.subarray(0, start + length);
}

/** Starts a trace whose name is not in the table. */
const traceName = Buffer.concat([Uint8Array.of(0x40), string(TRACE)]);

/** A field that stays in the dynamic table until newer fields evict it. */
interface Field {
  /** The bytes behind the name's index, or the whole field after the first byte if the name has no static index. */
  readonly literal: Uint8Array;
  readonly size: number;
  /** Its number in the order of insertion, or 0 if it is not in the table. */
  insertion: number;
}

function field(name: string, value: string, staticName = 0): Field {
  const head = new Uint8Array(2);
  const length = writeInteger(head, 0, 0x40, 0x3f, staticName);
  const literalName = staticName > 0 ? new Uint8Array(0) : string(name);
  const literal = Buffer.concat([head.subarray(0, length), literalName, string(value)]);
  return { literal, size: name.length + value.length + ENTRY_OVERHEAD, insertion: 0 };
}

/**
 * Encodes the header blocks of one connection byte for byte as Envoy 1.40 does for its calls to a rate limit service
 * with a timeout of 10 s, which no call reaches at saturation. `:path` is a literal in every block. All other fields are indexed after the first call. With
 * tracing, each call inserts its own `traceparent`, which moves the indices of all other fields and evicts them in time.
 */
export class EnvoyHeaders {
  readonly #start: Uint8Array;
  readonly #authority = field(":authority", "ratelimit", 1);
  readonly #before: readonly Field[];
  readonly #after: readonly Field[];
  /** The newest fields, in a ring. */
  readonly #table: Field[] = [];
  #inserted = 0;
  #evicted = 0;
  #bytes = 0;
  /** All traces have the same size, so this field represents each of them. */
  readonly #trace = field(TRACE, "0".repeat(TRACE_BYTES));

  constructor(path: string, isTraced: boolean) {
    this.#start = Buffer.concat([Uint8Array.of(0x83, 0x04), string(path)]);
    this.#before = [
      field("te", "trailers"),
      field("grpc-timeout", "10000m"),
      field("content-type", "application/grpc", 31),
    ];
    this.#after = [
      ...(isTraced ? [field("tracestate", "")] : []),
      field("x-envoy-internal", "true"),
      field("x-forwarded-for", "192.0.2.2"),
      field("x-envoy-expected-rq-timeout-ms", "10000"),
    ];
  }

  /** Writes a block into `out` at `at`. Returns the position after it. @param trace see {@link traceparents} */
  write(out: Uint8Array, at: number, trace: Trace | undefined): number {
    let end = this.#field(out, writeBytes(out, at, this.#start), this.#authority);
    out[end++] = 0x86;
    for (const known of this.#before) end = this.#field(out, end, known);
    if (trace !== undefined) end = this.#writeTrace(out, end, trace);
    for (const known of this.#after) end = this.#field(out, end, known);
    return end;
  }

  #field(out: Uint8Array, at: number, known: Field): number {
    if (known.insertion > 0) return writeInteger(out, at, 0x80, 0x7f, this.#indexOf(known));
    this.#insert(known);
    return writeBytes(out, at, known.literal);
  }

  #writeTrace(out: Uint8Array, at: number, trace: Trace): number {
    const isNamed = this.#trace.insertion > this.#evicted;
    const value = isNamed
      ? writeInteger(out, at, 0x40, 0x3f, this.#indexOf(this.#trace))
      : writeBytes(out, at, traceName);
    this.#insert(this.#trace);
    return writeBytes(out, value, trace);
  }

  #indexOf({ insertion }: Field): number {
    return STATIC_ENTRIES + 1 + this.#inserted - insertion;
  }

  #insert(inserted: Field): void {
    while (this.#bytes + inserted.size > TABLE_BYTES) {
      const evicted = this.#table[this.#evicted++ % MOST_ENTRIES]!;
      this.#bytes -= evicted.size;
      if (evicted !== this.#trace) evicted.insertion = 0;
    }
    this.#table[this.#inserted++ % MOST_ENTRIES] = inserted;
    this.#bytes += inserted.size;
    inserted.insertion = this.#inserted;
  }
}

/** The value of a `traceparent` field, encoded. */
export type Trace = Uint8Array;

/** Returns different values of the field `traceparent`. The dynamic table holds fewer than 50 of them. */
export function traceparents(count: number, random: () => number): Trace[] {
  const hex = (digits: number) =>
    Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join("");
  return Array.from({ length: count }, () => string(`00-${hex(32)}-${hex(16)}-01`));
}
