/**
 * Parses replies of the Redis protocol (RESP2) in place. Integers, the replies of the hot path, allocate no object. An
 * incomplete reply is kept and parsed again together with the next chunk.
 */

/** An error reply of Redis 6 to a script, with the error of one of its commands. */
const scriptError = /^ERR Error running script .*?: -([A-Z]+) /;

/** An error reply. Its first word is the code: `MOVED 866 10.0.0.1:6379`. */
export class ErrorReply {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
  /** `OOM`, `MOVED`, `ERR`. */
  get code(): string {
    const ofScript = scriptError.exec(this.message);
    if (ofScript !== null) return ofScript[1]!;
    const space = this.message.indexOf(" ");
    return space < 0 ? this.message : this.message.slice(0, space);
  }
}

/**
 * Integers beyond 2^53 - 1 are bigints; a bulk or simple string is a string; nil is null.
 */
export type Reply = number | bigint | string | null | ErrorReply | readonly Reply[];

export interface ReplySink {
  reply(reply: Reply): void;
}

/** Replies are counters, errors and topologies. A larger reply is not from Redis. */
const MAX_REPLY_BYTES = 16 * 1024 * 1024;
const MAX_DEPTH = 8;

const CR = 13;
const MINUS = 45;
const COLON = 58;
const PLUS = 43;
const DOLLAR = 36;
const STAR = 42;
const empty: Buffer = Buffer.alloc(0);

/** Marks an incomplete reply, inside of this module only. */
const incomplete = Symbol("incomplete");

export class ReplyReader {
  readonly #sink: ReplySink;
  /** The encoding of bulk strings. Binary replies keep their bytes as `latin1`: one unit for each byte. */
  encoding: "utf8" | "latin1" = "utf8";
  #kept = empty;
  #buffer = empty;
  #at = 0;

  constructor(sink: ReplySink) {
    this.#sink = sink;
  }

  /**
   * Passes every complete reply to the sink, in order. The caller may reuse the chunk afterwards.
   * @throws {Error} for bytes that are not RESP2
   */
  feed(chunk: Buffer): void {
    const buffer = this.#kept.length === 0 ? chunk : Buffer.concat([this.#kept, chunk]);
    this.#buffer = buffer;
    this.#at = 0;
    let at = 0;
    while (at < buffer.length) {
      const reply = this.#integer() ?? this.#parse(0);
      if (reply === incomplete) break;
      at = this.#at;
      this.#sink.reply(reply);
    }
    if (at === buffer.length) this.#kept = empty;
    else if (buffer.length - at > MAX_REPLY_BYTES)
      throw new Error(`a reply is larger than ${MAX_REPLY_BYTES} bytes`);
    else this.#kept = Buffer.from(buffer.subarray(at));
    this.#buffer = empty;
  }

  #parse(depth: number): Reply | typeof incomplete {
    const type = this.#buffer[this.#at];
    const line = this.#line();
    if (line === incomplete) return incomplete;
    switch (type) {
      case COLON:
        return toInteger(line);
      case PLUS:
        return line;
      case MINUS:
        return new ErrorReply(line);
      case DOLLAR:
        return this.#bulk(toSize(line));
      case STAR:
        return this.#array(toSize(line), depth);
      default:
        throw new Error(`not a Redis reply: it starts with byte ${type}`);
    }
  }

  #line(): string | typeof incomplete {
    const end = this.#buffer.indexOf("\r\n", this.#at + 1, "latin1");
    if (end < 0) return incomplete;
    const line = this.#buffer.toString("latin1", this.#at + 1, end);
    this.#at = end + 2;
    return line;
  }

  #bulk(size: number): string | null | typeof incomplete {
    if (size < 0) return null;
    const end = this.#at + size;
    if (end + 2 > this.#buffer.length) return incomplete;
    const text = this.#buffer.toString(this.encoding, this.#at, end);
    this.#at = end + 2;
    return text;
  }

  /** Reads an integer in place. Undefined for other replies, and beyond 2^53 - 1. */
  #integer(): number | undefined {
    const buffer = this.#buffer;
    let at = this.#at;
    if (buffer[at] !== COLON) return undefined;
    const isNegative = buffer[++at] === MINUS;
    if (isNegative) at++;
    const first = at;
    let value = 0;
    let byte = buffer[at]!;
    while (byte >= 48 && byte <= 57) {
      value = value * 10 + (byte - 48);
      byte = buffer[++at]!;
    }
    if (byte !== CR || at === first || at + 1 >= buffer.length || value > Number.MAX_SAFE_INTEGER)
      return undefined;
    this.#at = at + 2;
    return isNegative && value > 0 ? -value : value;
  }

  #array(size: number, depth: number): Reply | typeof incomplete {
    if (size < 0) return null;
    if (depth >= MAX_DEPTH) throw new Error("a reply is nested too deeply");
    const items: Reply[] = [];
    for (let i = 0; i < size; i++) {
      if (this.#at >= this.#buffer.length) return incomplete;
      const item = this.#integer() ?? this.#parse(depth + 1);
      if (item === incomplete) return incomplete;
      items.push(item);
    }
    return items;
  }
}

/** @throws {Error} if the text is not an integer */
export function toInteger(text: string): number | bigint {
  if (!/^-?\d{1,20}$/.test(text)) throw new Error(`not an integer: ${JSON.stringify(text.slice(0, 40))}`);
  return text.length < 16 ? Number(text) : BigInt(text);
}

function toSize(text: string): number {
  const size = Number(toInteger(text));
  if (size > MAX_REPLY_BYTES) throw new Error(`a reply is larger than ${MAX_REPLY_BYTES} bytes`);
  return size;
}
