import { Buffer } from "node:buffer";

/**
 * What Python and Node say to each other over a socket pair: frames of length (4 bytes, big-endian, of the payload
 * alone), kind (1 byte) and exchange (4 bytes), then the payload. An exchange is one request with its answer.
 *
 *   REQUEST  to Node    flags; lengths of head, root, path, raw and query (4 bytes each); these five; the body's start
 *   BODY     to Node    flags; bytes
 *   LEFT     to Node    the client has gone, or nobody wants the answer any more
 *   CREDIT   to Node    so many more bytes of the answer may come (4 bytes)
 *   ANSWER   to Python  flags; status (2 bytes); length of head (4 bytes); head; the body's start
 *   PIECE    to Python  flags; bytes
 *   CUT      to Python  an answer that has begun goes no further
 *   WANT     to Python  so many more bytes of the body may come (4 bytes)
 *
 * A head is text in Latin-1 joined by NUL: of a request its method, scheme, client address, then names and values of
 * headers; of an answer the headers alone.
 */
export const PROTOCOL = 1;

export const HEADER_BYTES = 9;
export const REQUEST = 1;
export const BODY = 2;
export const LEFT = 3;
export const CREDIT = 4;
export const ANSWER = 5;
const PIECE = 6;
const CUT = 7;
const WANT = 8;

/** Nothing of the body follows. */
export const LAST = 1;
/** The path has a character for each byte (WSGI); without it, it is UTF-8 (ASGI). */
export const LATIN1_PATH = 2;
/** The server tells the raw path. */
export const HAS_RAW = 4;
/** The client waits to be asked for its body. */
export const HOLDS_BACK = 8;
/** The request is one of HTTP/1.1, which requires a Host header. */
export const HTTP_1_1 = 16;

/** No frame is larger: more means that the two ends no longer understand each other. */
export const MAXIMUM_FRAME = 16 * 1024 * 1024;
/** Bytes of body that Python sends without being asked, unless the client holds back. */
export const UNASKED = 64 * 1024;
/** Bytes on their way, or waiting to be read, in either direction of one exchange. */
export const WINDOW = 256 * 1024;
/** The largest piece of one frame, so that no exchange holds up the others for long. */
export const PIECE_BYTES = 64 * 1024;

function frame(kind: number, exchange: number, payload: number): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + payload);
  bytes.writeUInt32BE(payload, 0);
  bytes[4] = kind;
  bytes.writeUInt32BE(exchange, 5);
  return bytes;
}

/** An answer; `body` is its start, or all of it where `last` says so. */
export function answerFrame(
  exchange: number,
  status: number,
  headers: readonly string[],
  body: string | Uint8Array,
  last: boolean,
): Buffer {
  const head = headers.join("\0");
  const size = typeof body === "string" ? Buffer.byteLength(body) : body.length;
  const bytes = frame(ANSWER, exchange, 7 + head.length + size);
  bytes[9] = last ? LAST : 0;
  bytes.writeUInt16BE(status, 10);
  bytes.writeUInt32BE(head.length, 12);
  bytes.write(head, 16, "latin1");
  if (typeof body === "string") bytes.write(body, 16 + head.length, "utf8");
  else bytes.set(body, 16 + head.length);
  return bytes;
}

export function pieceFrame(exchange: number, piece: Uint8Array, last: boolean): Buffer {
  const bytes = frame(PIECE, exchange, 1 + piece.length);
  bytes[9] = last ? LAST : 0;
  bytes.set(piece, 10);
  return bytes;
}

export function cutFrame(exchange: number): Buffer {
  return frame(CUT, exchange, 0);
}

export function wantFrame(exchange: number, size: number): Buffer {
  const bytes = frame(WANT, exchange, 4);
  bytes.writeUInt32BE(size, 9);
  return bytes;
}
