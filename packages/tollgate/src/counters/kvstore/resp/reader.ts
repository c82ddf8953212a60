/**
 * Parses replies of the Redis protocol (RESP2) in place. Integers, the replies of the hot path, allocate no object. An
 * incomplete reply is kept and parsed again together with the next chunk.
 */
import { incomplete, MAX_REPLY_BYTES, parseReply, type ReplyBytes } from "./parse-reply.ts";
import type { Reply } from "./reply.ts";

export interface ReplySink {
  reply(reply: Reply): void;
}

const CR = 13;
const COLON = 58;
const empty: Buffer = Buffer.alloc(0);

export class ReplyReader {
  readonly #sink: ReplySink;
  readonly #bytes: ReplyBytes = { buffer: empty, at: 0, encoding: "utf8" };
  #kept = empty;

  constructor(sink: ReplySink) {
    this.#sink = sink;
  }

  /** See {@link ReplyBytes}. */
  set encoding(encoding: ReplyBytes["encoding"]) {
    this.#bytes.encoding = encoding;
  }

  /**
   * Passes every complete reply to the sink, in order. The caller may reuse the chunk afterwards.
   * @throws {Error} for bytes that are not RESP2
   */
  feed(chunk: Buffer): void {
    const buffer = this.#kept.length === 0 ? chunk : Buffer.concat([this.#kept, chunk]);
    const bytes = this.#bytes;
    bytes.buffer = buffer;
    bytes.at = 0;
    let at = 0;
    while (at < buffer.length) {
      const reply = counterOf(bytes) ?? parseReply(bytes);
      if (reply === incomplete) break;
      at = bytes.at;
      this.#sink.reply(reply);
    }
    if (buffer.length - at > MAX_REPLY_BYTES)
      throw new Error(`a reply is larger than ${MAX_REPLY_BYTES} bytes`);
    this.#kept = at === buffer.length ? empty : Buffer.from(buffer.subarray(at));
    bytes.buffer = empty;
  }
}

/** Reads an integer from 0 to 2^53 - 1 in place. Undefined for all other replies. */
function counterOf(bytes: ReplyBytes): number | undefined {
  const { buffer } = bytes;
  let { at } = bytes;
  if (buffer[at++] !== COLON) return undefined;
  let value = 0;
  let byte = buffer[at++]!;
  while (byte >= 48 && byte <= 57) {
    value = value * 10 + (byte - 48);
    byte = buffer[at++]!;
  }
  if (byte !== CR || buffer[at - 2] === COLON || at >= buffer.length || value > Number.MAX_SAFE_INTEGER)
    return undefined;
  bytes.at = at + 1;
  return value;
}
