import { HpackDecoder } from "../hpack/decoder.ts";
import type { HeaderField } from "../hpack/field.ts";
import { type RequestHead, readHead } from "./request-head.ts";

/** A block that was decoded before without a change of the dynamic table: equal bytes mean an equal head. */
interface Known {
  readonly bytes: Uint8Array;
  readonly version: number;
  readonly head: RequestHead;
}

const LARGEST_KNOWN = 512;
/** After this many misses in a row, only every 64th block is remembered: the peer's headers differ each time. */
const PATIENCE = 64;

/**
 * Header blocks of one connection: decodes them, and recognises by their bytes the blocks that it has seen. It takes
 * some 15 ns to recognise a block of ten indexed fields, and some 200 ns to decode and read it.
 */
export class HeaderBlocks {
  readonly #decoder = new HpackDecoder();
  readonly #maxListBytes: number;
  readonly #maxKnown: number;
  #known: Known[] = [];
  #replaceNext = 0;
  #misses = 0;

  constructor(maxListBytes: number, maxKnown: number) {
    this.#maxListBytes = maxListBytes;
    this.#maxKnown = maxKnown;
  }

  /** A request's block. Undefined when it cannot be decoded: a connection error COMPRESSION_ERROR. */
  readRequest(bytes: Buffer, start: number, end: number): RequestHead | undefined {
    const version = this.#decoder.version;
    const known = this.#known;
    for (let index = 0; index < known.length; index++) {
      const entry = known[index]!;
      if (entry.version === version && isEqual(entry.bytes, bytes, start, end)) {
        this.#misses = 0;
        return entry.head;
      }
    }
    const fields = this.#decoder.decode(bytes, start, end, this.#maxListBytes);
    if (fields === undefined) return undefined;
    const head = readHead(fields, this.#decoder.listSize > this.#maxListBytes);
    if (this.#decoder.version === version && head.fault === "" && !head.isTooLarge)
      this.#remember(bytes, start, end, head);
    return head;
  }

  /** Any other block: trailers, and blocks of streams that are closed. */
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
