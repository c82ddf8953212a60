import { HpackDecoder } from "../hpack/decoder.ts";
import type { HeaderField } from "../hpack/field.ts";
import { type RequestHead, readHead } from "./request-head.ts";

/** Longer blocks are not compared. */
const MAX_BYTES = 512;
/** After this many misses in a row, only every 64th block is kept: the peer's headers differ each time. */
const MAX_MISSES = 64;

/**
 * Decodes the header blocks of one connection. Most peers repeat themselves: a block with the bytes of the kept one has
 * its head.
 */
export class HeaderBlocks {
  readonly #decoder = new HpackDecoder();
  readonly #maxListBytes: number;
  /** A block that did not change the dynamic table. At the same version, equal bytes give an equal head. */
  #bytes: Uint8Array = new Uint8Array(0);
  #version = -1;
  #head: RequestHead | undefined;
  #misses = 0;

  constructor(maxListBytes: number) {
    this.#maxListBytes = maxListBytes;
  }

  /** Reads a request's block. Returns undefined for an invalid block, a connection error of type COMPRESSION_ERROR. */
  readRequest(bytes: Buffer, start: number, end: number): RequestHead | undefined {
    const { version } = this.#decoder;
    if (version === this.#version && isEqual(this.#bytes, bytes, start, end)) {
      this.#misses = 0;
      return this.#head;
    }
    const fields = this.#decoder.decode(bytes, start, end, this.#maxListBytes);
    if (fields === undefined) return undefined;
    const head = readHead(fields, this.#decoder.listSize > this.#maxListBytes);
    if (this.#decoder.version === version && head.fault === "" && !head.isTooLarge)
      this.#keep(bytes, start, end, head);
    return head;
  }

  /** Decodes any other block: trailers, and blocks on closed streams. */
  readFields(bytes: Buffer, start: number, end: number): HeaderField[] | undefined {
    return this.#decoder.decode(bytes, start, end, this.#maxListBytes);
  }

  #keep(bytes: Buffer, start: number, end: number, head: RequestHead): void {
    if (end - start > MAX_BYTES) return;
    this.#misses += 1;
    if (this.#misses > MAX_MISSES && this.#misses % MAX_MISSES !== 0) return;
    this.#bytes = Uint8Array.from(bytes.subarray(start, end));
    this.#version = this.#decoder.version;
    this.#head = head;
  }
}

function isEqual(known: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  const length = known.length;
  if (length !== end - start) return false;
  for (let at = 0; at < length; at++) if (known[at] !== bytes[start + at]) return false;
  return true;
}
