/** Parses replies of any kind, in place. */
import { ErrorReply, type Reply, toInteger } from "./reply.ts";

/** Replies are counters, errors and topologies. A larger reply is not from Redis. */
export const MAX_REPLY_BYTES = 16 * 1024 * 1024;
const MAX_DEPTH = 8;

const COLON = 58;
const PLUS = 43;
const MINUS = 45;
const DOLLAR = 36;
const STAR = 42;

/** A position in received bytes. */
export interface ReplyBytes {
  buffer: Buffer;
  at: number;
  /** The encoding of bulk strings. Binary replies keep their bytes as `latin1`: one unit for each byte. */
  encoding: "utf8" | "latin1";
}

/** Marks an incomplete reply. */
export const incomplete = Symbol("incomplete");

/** Reads one reply. @throws {Error} for bytes that are not RESP2 */
export function parseReply(bytes: ReplyBytes, depth = 0): Reply | typeof incomplete {
  const type = bytes.buffer[bytes.at];
  const line = lineOf(bytes);
  if (line === incomplete) return incomplete;
  switch (type) {
    case COLON:
      return toInteger(line);
    case PLUS:
      return line;
    case MINUS:
      return new ErrorReply(line);
    case DOLLAR:
      return bulk(bytes, toSize(line));
    case STAR:
      return array(bytes, toSize(line), depth);
    default:
      throw new Error(`not a Redis reply: it starts with byte ${type}`);
  }
}

function lineOf(bytes: ReplyBytes): string | typeof incomplete {
  const { buffer, at } = bytes;
  const end = buffer.indexOf("\r\n", at + 1, "latin1");
  if (end < 0) return incomplete;
  bytes.at = end + 2;
  return buffer.toString("latin1", at + 1, end);
}

function bulk(bytes: ReplyBytes, size: number): string | null | typeof incomplete {
  if (size < 0) return null;
  const { buffer, at, encoding } = bytes;
  if (at + size + 2 > buffer.length) return incomplete;
  bytes.at = at + size + 2;
  return buffer.toString(encoding, at, at + size);
}

function array(bytes: ReplyBytes, size: number, depth: number): Reply | typeof incomplete {
  if (size < 0) return null;
  if (depth >= MAX_DEPTH) throw new Error("a reply is nested too deeply");
  const items: Reply[] = [];
  for (let i = 0; i < size; i++) {
    if (bytes.at >= bytes.buffer.length) return incomplete;
    const item = parseReply(bytes, depth + 1);
    if (item === incomplete) return incomplete;
    items.push(item);
  }
  return items;
}

function toSize(text: string): number {
  const size = Number(toInteger(text));
  if (size > MAX_REPLY_BYTES) throw new Error(`a reply is larger than ${MAX_REPLY_BYTES} bytes`);
  return size;
}
