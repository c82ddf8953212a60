import { HeadKind, type RequestHead, readHead } from "../grpc/request-head.ts";
import { HpackDecoder } from "../hpack/decoder.ts";
import type { HeaderField } from "../hpack/field.ts";

/** A block that was decoded before without changing the dynamic table: equal bytes mean an equal head. */
interface Known {
  readonly bytes: Uint8Array;
  readonly version: number;
  readonly head: RequestHead;
}

const LARGEST_KNOWN = 512;
/** After this many misses in a row, only every 64th block is remembered: the peer's headers differ each time. */
const PATIENCE = 64;

/**
 * Header blocks of one connection: gathers CONTINUATION frames, decodes, and recognises by their bytes the
 * blocks that it has seen. Recognising a block of ten indexed fields takes some 15 ns; decoding and reading it
 * takes some 200.
 */
export class HeaderBlocks {
  readonly #decoder = new HpackDecoder();
  readonly #subtypes: readonly string[];
  readonly #maxListBytes: number;
  readonly #maxKnown: number;
  #known: Known[] = [];
  #replaceNext = 0;
  #misses = 0;

  constructor(subtypes: readonly string[], maxListBytes: number, maxKnown: number) {
    this.#subtypes = subtypes;
    this.#maxListBytes = maxListBytes;
    this.#maxKnown = maxKnown;
  }

  /** True where the last block held more than the list limit allows. */
  get isTooLarge(): boolean {
    return this.#decoder.listSize > this.#maxListBytes;
  }

  /** A request's block; undefined for one that cannot be decoded: a connection error COMPRESSION_ERROR. */
  readRequest(bytes: Buffer, start: number, end: number): RequestHead | undefined {
    const version = this.#decoder.version;
    const known = this.#known;
    for (let index = 0; index < known.length; index++) {
      const entry = known[index]!;
      if (entry.version === version && isEqual(entry.bytes, bytes, start, end)) {
        this.#decoder.listSize = 0;
        this.#misses = 0;
        return entry.head;
      }
    }
    const fields = this.#decoder.decode(bytes, start, end, this.#maxListBytes);
    if (fields === undefined) return undefined;
    const head = readHead(fields, this.#subtypes);
    if (this.#decoder.version === version && head.kind === HeadKind.CALL && !this.isTooLarge)
      this.#remember(bytes, start, end, head);
    return head;
  }

  /** Any block by itself: trailers, and what belongs to streams that are gone. */
  readFields(bytes: Buffer, start: number, end: number): HeaderField[] | undefined {
    return this.#decoder.decode(bytes, start, end, this.#maxListBytes);
  }

  #remember(bytes: Buffer, start: number, end: number, head: RequestHead): void {
    if (this.#maxKnown === 0 || end - start > LARGEST_KNOWN) return;
    this.#misses += 1;
    if (this.#misses > PATIENCE && this.#misses % PATIENCE !== 0) return;
    const entry = {
      bytes: Uint8Array.from(bytes.subarray(start, end)),
      version: this.#decoder.version,
      head,
    };
    if (this.#known.length < this.#maxKnown) this.#known.push(entry);
    else {
      this.#known[this.#replaceNext] = entry;
      this.#replaceNext = (this.#replaceNext + 1) % this.#maxKnown;
    }
  }
}

function isEqual(known: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  const length = known.length;
  if (length !== end - start) return false;
  for (let at = 0; at < length; at++) if (known[at] !== bytes[start + at]) return false;
  return true;
}
