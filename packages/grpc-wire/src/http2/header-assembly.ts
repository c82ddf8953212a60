import type { Http2Limits } from "./options.ts";

/** An incomplete header block: CONTINUATION frames follow. */
export class HeaderAssembly {
  readonly id: number;
  readonly ended: boolean;
  readonly selfDependent: boolean;
  readonly #parts: Buffer[];
  #bytes: number;
  #continuations = 0;

  /** Copies `first`. */
  constructor(id: number, ended: boolean, selfDependent: boolean, first: Uint8Array) {
    this.id = id;
    this.ended = ended;
    this.selfDependent = selfDependent;
    this.#parts = [Buffer.from(first)];
    this.#bytes = first.length;
  }

  /** Adds a copy of a CONTINUATION's content. Returns false when the block has too many frames or bytes. */
  add(part: Uint8Array, limits: Http2Limits): boolean {
    this.#continuations += 1;
    this.#bytes += part.length;
    if (this.#continuations > limits.maxContinuationFrames || this.#bytes > limits.maxHeaderBlockBytes)
      return false;
    this.#parts.push(Buffer.from(part));
    return true;
  }

  whole(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
