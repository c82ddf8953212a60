import { Buffer } from "node:buffer";

/**
 * The protocol between Python and Node on a socket pair. A frame has the length of its payload (4 bytes, big-endian),
 * its kind (1 byte), its exchange (4 bytes) and its payload. An exchange is one request with its answer.
 *
 * REQUEST  to Node    flags; lengths of head, root, path, raw and query (4 bytes each); these five; the body's start
 * BODY     to Node    flags; bytes
 * LEFT     to Node    the client has gone away, or the answer is no longer needed
 * CREDIT   to Node    number of further bytes of the answer that Python accepts (4 bytes)
 * ANSWER   to Python  flags; status (2 bytes); length of head (4 bytes); head; the body's start
 * PIECE    to Python  flags; bytes
 * CUT      to Python  the answer has begun and ends incomplete
 * WANT     to Python  number of further bytes of the body that Node accepts (4 bytes)
 *
 * A head is Latin-1 text joined by NUL. A request's head has method, scheme, client address, then names and values of
 * the headers. An answer's head has only the headers.
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

/** The frame ends the body. */
export const LAST = 1;
/** The path has one character for each byte (WSGI). Without this flag it is UTF-8 (ASGI). */
export const LATIN1_PATH = 2;
/** The frame has the raw path. */
export const HAS_RAW = 4;
/** The client waits for an invitation before it sends the body. */
export const HOLDS_BACK = 8;
/** The request is HTTP/1.1, which requires a Host header. */
export const HTTP_1_1 = 16;

/** Largest frame. A larger length means that the two sides are out of step. */
export const MAXIMUM_FRAME = 16 * 1024 * 1024;
/** Bytes of a body that Python sends without a WANT frame, unless the client waits for an invitation. */
export const UNASKED = 64 * 1024;
/** Largest number of unread bytes in each direction of one exchange. */
export const WINDOW = 256 * 1024;
/** Largest piece of one frame, so that an exchange does not delay the others for long. */
export const PIECE_BYTES = 64 * 1024;

function frame(kind: number, exchange: number, payload: number): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + payload);
  bytes.writeUInt32BE(payload, 0);
  bytes[4] = kind;
  bytes.writeUInt32BE(exchange, 5);
  return bytes;
}

/** An ANSWER frame. `body` is the start of the body, or all of it if `last` is true. */
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
