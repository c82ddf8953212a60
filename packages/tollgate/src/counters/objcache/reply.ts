/** Parses replies of memcached's text protocol (doc/protocol.txt): lines, and values of a retrieval. */

export interface Value {
  readonly key: string;
  readonly data: string;
}

/** A line without its CR LF, or one VALUE of a `get`. */
export type TextReply = string | Value;

const MAX_LINE = 2048;
/** Our values are numbers. memcached's own limit for a value is 1 MiB. */
const MAX_VALUE = 1024 * 1024;
const empty: Buffer = Buffer.alloc(0);

export class TextReader {
  readonly #accept: (reply: TextReply) => void;
  #kept = empty;

  constructor(accept: (reply: TextReply) => void) {
    this.#accept = accept;
  }

  /** @throws {Error} for bytes that violate the protocol */
  feed(chunk: Buffer): void {
    const buffer = this.#kept.length === 0 ? chunk : Buffer.concat([this.#kept, chunk]);
    let at = 0;
    for (;;) {
      const end = buffer.indexOf("\r\n", at, "latin1");
      if (end < 0) {
        if (buffer.length - at > MAX_LINE) throw new Error("a reply line is too long");
        break;
      }
      if (buffer[at] !== 86 /* V */) {
        this.#accept(buffer.toString("latin1", at, end));
        at = end + 2;
        continue;
      }
      const [, key, , size] = buffer.toString("utf8", at, end).split(" ");
      const bytes = Number(size);
      if (key === undefined || !(bytes >= 0 && bytes <= MAX_VALUE))
        throw new Error("a VALUE line has no key or no size");
      const dataEnd = end + 2 + bytes;
      if (dataEnd + 2 > buffer.length) break;
      this.#accept({ key, data: buffer.toString("latin1", end + 2, dataEnd) });
      at = dataEnd + 2;
    }
    this.#kept = at === buffer.length ? empty : Buffer.from(buffer.subarray(at));
  }
}
