import { huffmanEncode, huffmanLength } from "../../packages/grpc-wire/src/hpack/huffman-encoder.ts";

/** The size of a client's dynamic table (RFC 7541 section 4.2), and the overhead of each entry in it. */
const TABLE_BYTES = 4096;
const ENTRY_OVERHEAD = 32;
const STATIC_ENTRIES = 61;

/** Returns an HPACK integer with `flags` above a prefix of `mask`. */
function integer(flags: number, mask: number, value: number): number[] {
  if (value < mask) return [flags | value];
  const bytes = [flags | mask];
  let rest = value - mask;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest];
}

/** Returns a string, Huffman coded if that is shorter. */
function string(text: string): number[] {
  const length = huffmanLength(text);
  if (length >= text.length) return [...integer(0, 0x7f, text.length), ...Buffer.from(text, "latin1")];
  const coded = new Uint8Array(length);
  huffmanEncode(text, coded, 0);
  return [...integer(0x80, 0x7f, length), ...coded];
}

/** A field that stays in the dynamic table until newer fields evict it. */
interface Field {
  /** The bytes behind the name's index, or the whole field after the first byte if the name has no static index. */
  readonly literal: readonly number[];
  readonly size: number;
  /** Its number in the order of insertion, or 0 if it is not in the table. */
  insertion: number;
}

function field(name: string, value: string, staticName = 0): Field {
  const text = string(value);
  const literal =
    staticName > 0 ? [...integer(0x40, 0x3f, staticName), ...text] : [0x40, ...string(name), ...text];
  return { literal, size: name.length + value.length + ENTRY_OVERHEAD, insertion: 0 };
}

/**
 * Encodes the header blocks of one connection byte for byte as Envoy 1.40 does for its calls to a rate limit service
 * with a timeout of 10 s, which no call reaches at saturation. `:path` is a literal in every block. All other fields are indexed after the first call. With
 * tracing, each call inserts its own `traceparent`, which moves the indices of all other fields and evicts them in time.
 */
export class EnvoyHeaders {
  readonly #path: readonly number[];
  readonly #before: readonly Field[];
  readonly #after: readonly Field[];
  readonly #table: Field[] = [];
  #oldest = 0;
  #bytes = 0;
  #traceName = 0;

  constructor(path: string, isTraced: boolean) {
    this.#path = [0x04, ...string(path)];
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

  readonly #authority = field(":authority", "ratelimit", 1);

  /** Writes a block into `out` at `at`. Returns the position after it. @param trace see {@link traceparents} */
  write(out: Uint8Array, at: number, trace: Trace | undefined): number {
    let end = this.#bytesOf(out, at, [0x83]);
    end = this.#bytesOf(out, end, this.#path);
    end = this.#field(out, end, this.#authority);
    end = this.#bytesOf(out, end, [0x86]);
    for (const known of this.#before) end = this.#field(out, end, known);
    if (trace !== undefined) end = this.#trace(out, end, trace);
    for (const known of this.#after) end = this.#field(out, end, known);
    return end;
  }

  #bytesOf(out: Uint8Array, at: number, bytes: readonly number[]): number {
    for (let index = 0; index < bytes.length; index++) out[at + index] = bytes[index]!;
    return at + bytes.length;
  }

  #field(out: Uint8Array, at: number, known: Field): number {
    if (known.insertion > 0)
      return this.#bytesOf(out, at, integer(0x80, 0x7f, this.#indexOf(known.insertion)));
    this.#insert(known);
    return this.#bytesOf(out, at, known.literal);
  }

  #trace(out: Uint8Array, at: number, trace: Trace): number {
    const isNamed = this.#traceName > this.#oldest;
    const head = isNamed
      ? integer(0x40, 0x3f, this.#indexOf(this.#traceName))
      : [0x40, ...string("traceparent")];
    this.#insert({ literal: [], size: trace.size, insertion: 0 });
    this.#traceName = this.#table.length;
    return this.#bytesOf(out, this.#bytesOf(out, at, head), trace.value);
  }

  #indexOf(insertion: number): number {
    return STATIC_ENTRIES + 1 + this.#table.length - insertion;
  }

  #insert(inserted: Field): void {
    while (this.#bytes + inserted.size > TABLE_BYTES) {
      const evicted = this.#table[this.#oldest++]!;
      this.#bytes -= evicted.size;
      evicted.insertion = 0;
    }
    this.#table.push(inserted);
    this.#bytes += inserted.size;
    inserted.insertion = this.#table.length;
  }
}

/** The value of a `traceparent` field, encoded. */
export interface Trace {
  readonly value: readonly number[];
  /** The size in the dynamic table. */
  readonly size: number;
}

/** Returns different values of the field `traceparent`. The dynamic table holds fewer than 50 of them. */
export function traceparents(count: number, random: () => number): Trace[] {
  const hex = (digits: number) =>
    Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join("");
  return Array.from({ length: count }, () => {
    const text = `00-${hex(32)}-${hex(16)}-01`;
    return { value: string(text), size: "traceparent".length + text.length + ENTRY_OVERHEAD };
  });
}
