/** Writing answers: in place where everything fits, otherwise through the stream's queue. */

import { ErrorCode, Flag, FRAME_HEADER_BYTES, FrameType, MAX_FRAME_BYTES } from "../frames/constants.ts";
import { copyOf } from "../frames/copy.ts";
import { writeFrameHeader, writeUint32 } from "../frames/write.ts";
import { deflate, deflateElsewhere, isDeflatedInline } from "../grpc/compression.ts";
import { encodeStatusMessage } from "../grpc/metadata.ts";
import { Encoding } from "../grpc/request-head.ts";
import { Status, type StatusCode } from "../grpc/status.ts";
import { encodeHeaders } from "../hpack/encoder.ts";
import type { Connection } from "./connection.ts";
import { SendQueue } from "./send-queue.ts";
import type { Stream } from "./stream.ts";
import { OK_TRAILERS } from "./templates.ts";

const PREFIX_BYTES = 5;
/** Up to here a message is copied behind its prefix: one piece to queue and to send instead of two. */
const SHORT_BYTES = 1024;
/** One read holds calls for about as many bytes of answers of this size as it has itself: no need to hold those back. */
const SMALL_BYTES = 256;

/** Makes room for a whole unary answer: headers, one DATA frame, trailers. */
export function reserveUnary(stream: Stream, maxBytes: number): Uint8Array {
  const { host, output } = stream.connection;
  const before = host.responseHeaders[stream.head.subtype]!.length + FRAME_HEADER_BYTES + PREFIX_BYTES;
  const bytes = output.room(before + maxBytes + OK_TRAILERS.length);
  output.reserved = true;
  stream.offset = output.length + before;
  stream.reply = bytes;
  stream.replyBytes = maxBytes;
  return bytes;
}

/** Finishes a unary call with the `length` bytes at `stream.offset` of the reservation. */
export function commitUnary(stream: Stream, length: number): void {
  const { connection } = stream;
  const { host, output } = connection;
  const isInPlace = output.bytes === stream.reply && output.reserved;
  if (isInPlace) output.reserved = false;
  const size = length + PREFIX_BYTES;
  if (
    !isInPlace ||
    size > MAX_FRAME_BYTES ||
    size > stream.sendWindow ||
    size > connection.sendWindow ||
    (size > SMALL_BYTES && output.isFull) ||
    stream.responseMetadata !== undefined ||
    connection.mustSignalTableSize ||
    (length >= host.compressionThresholdBytes && wantsGzip(stream))
  ) {
    sendUnary(stream, copyOf(stream.reply, stream.offset, stream.offset + length));
    return;
  }
  const out = output.bytes;
  let at = copyTemplate(out, output.length, host.responseHeaders[stream.head.subtype]!, stream.id);
  at = writeFrameHeader(out, at, size, FrameType.DATA, 0, stream.id);
  out[at] = 0;
  at = writeUint32(out, at + 1, length) + length;
  output.length = copyTemplate(out, at, OK_TRAILERS, stream.id);
  stream.sendWindow -= size;
  connection.sendWindow -= size;
  stream.headersSent = true;
  connection.answered += 1;
  settle(stream, Status.OK);
  closeLocal(stream);
}

export function finishUnary(stream: Stream, message: Uint8Array): void {
  const length = message.length;
  if (length + PREFIX_BYTES > MAX_FRAME_BYTES) {
    sendUnary(stream, copyOf(message, 0, message.length));
    return;
  }
  reserveUnary(stream, length).set(message, stream.offset);
  commitUnary(stream, length);
}

/** The general way of a unary answer: `message` is the connection's to keep. */
function sendUnary(stream: Stream, message: Uint8Array): void {
  const threshold = stream.connection.host.compressionThresholdBytes;
  if (message.length < threshold || !wantsGzip(stream)) {
    if (queueMessage(stream, message, false)) finishWithStatus(stream, Status.OK, "");
    return;
  }
  if (isDeflatedInline(message)) {
    if (queueMessage(stream, deflate(message), true)) finishWithStatus(stream, Status.OK, "");
    return;
  }
  if (refuseAnswer(stream)) return;
  // Finished, as far as the handler goes; the status follows the message.
  settle(stream, Status.OK);
  const { connection } = stream;
  connection.countQueued(message.length);
  deflateElsewhere(message).then((deflated) => {
    connection.countQueued(-message.length);
    if (stream.cancelled) return;
    if (queueMessage(stream, deflated ?? message, deflated !== undefined)) endStream(stream, Status.OK, "");
  });
}

/** Sends one message of a streamed answer; undefined or a promise of room. */
export function writeStreamed(stream: Stream, message: Uint8Array): Promise<void> {
  const threshold = stream.connection.host.compressionThresholdBytes;
  const deflates = message.length >= threshold && isDeflatedInline(message) && wantsGzip(stream);
  const isQueued = deflates
    ? queueMessage(stream, deflate(message), true)
    : queueMessage(stream, message, false, true);
  if (!isQueued) return Promise.reject(stream.endedError());
  return stream.queue?.whenRoomy() ?? Promise.resolve();
}

/** Whether answers of this call may be gzipped: that must be said in the response's headers. */
function wantsGzip(stream: Stream): boolean {
  const { head } = stream;
  if (!head.acceptsGzip) return false;
  const when = stream.connection.host.responseCompression;
  return when === "accepted" || (when === "mirror" && head.encoding === Encoding.GZIP);
}

/**
 * Resets the stream and returns true when too many bytes of answers wait already. Looked at when a call comes, before
 * its handler runs, and before its answer is queued: calls that came together are answered at any later time.
 */
export function refuseAnswer(stream: Stream): boolean {
  if (!stream.connection.isQueueFull()) return false;
  stream.connection.resetStream(stream.id, ErrorCode.ENHANCE_YOUR_CALM);
  return true;
}

/** False when the stream was reset instead. `isTheirs`: the handler owns the bytes and may change them. */
function queueMessage(stream: Stream, message: Uint8Array, compressed: boolean, isTheirs = false): boolean {
  const { connection } = stream;
  if (refuseAnswer(stream)) return false;
  if (!stream.headersSent) {
    const fields: [string, string][] = [
      [":status", "200"],
      ["content-type", connection.host.contentTypes[stream.head.subtype]!],
    ];
    if (wantsGzip(stream)) fields.push(["grpc-encoding", "gzip"]);
    if (stream.responseMetadata !== undefined) fields.push(...stream.responseMetadata.initial);
    writeHeaderBlock(connection, stream.id, encodeHeaders(fields), false);
    stream.headersSent = true;
  }
  const { length } = message;
  const isShort = length <= SHORT_BYTES;
  const prefix = new Uint8Array(isShort ? PREFIX_BYTES + length : PREFIX_BYTES);
  prefix[0] = compressed ? 1 : 0;
  writeUint32(prefix, 1, length);
  if (isShort) prefix.set(message, PREFIX_BYTES);
  stream.queue ??= new SendQueue(connection.now, (change) => connection.countQueued(change));
  if (stream.queue.bytes === 0) stream.queue.movedAt = connection.now;
  stream.queue.push(prefix);
  if (!isShort) stream.queue.push(isTheirs ? copyOf(message, 0, length) : message);
  connection.sending.add(stream);
  return true;
}

/** Ends a call with a status: as trailers, or as trailers only where nothing was sent. */
export function finishWithStatus(stream: Stream, code: StatusCode, message: string): void {
  settle(stream, code);
  endStream(stream, code, message);
}

function endStream(stream: Stream, code: StatusCode, message: string): void {
  const { connection } = stream;
  const fields: [string, string][] = [];
  if (!stream.headersSent) {
    fields.push([":status", "200"], ["content-type", connection.host.contentTypes[stream.head.subtype]!]);
    if (stream.responseMetadata !== undefined) fields.push(...stream.responseMetadata.initial);
  }
  fields.push(["grpc-status", String(code)]);
  if (message !== "") fields.push(["grpc-message", encodeStatusMessage(message)]);
  if (stream.head.encoding === Encoding.UNSUPPORTED) fields.push(["grpc-accept-encoding", "identity,gzip"]);
  if (stream.responseMetadata !== undefined) fields.push(...stream.responseMetadata.trailing);
  const block = encodeHeaders(fields);
  connection.answered += 1;
  stream.headersSent = true;
  if (stream.queue !== undefined && stream.queue.bytes > 0) {
    stream.queue.trailers = block;
    return;
  }
  writeHeaderBlock(connection, stream.id, block, true);
  closeLocal(stream);
}

/** Sends what waits on a stream, one frame; true where more could go at once. */
export function pumpOnce(connection: Connection, stream: Stream): boolean {
  const queue = stream.queue!;
  const size = Math.min(queue.bytes, MAX_FRAME_BYTES, stream.sendWindow, connection.sendWindow);
  if (size > 0) {
    const { output } = connection;
    const out = output.room(FRAME_HEADER_BYTES + size);
    const flags = queue.endsWithData && size === queue.bytes ? Flag.END_STREAM : 0;
    const at = writeFrameHeader(out, output.length, size, FrameType.DATA, flags, stream.id);
    stream.sendWindow -= size;
    connection.sendWindow -= size;
    connection.dataFramesSent += 1;
    output.length = at + size;
    queue.moveTo(out, at, size, connection.now);
  }
  if (queue.bytes > 0) return stream.sendWindow > 0;
  if (queue.trailers !== undefined) {
    writeHeaderBlock(connection, stream.id, queue.trailers, true);
    closeLocal(stream);
  } else if (queue.endsWithData) closeLocal(stream);
  return false;
}

/** A header block as HEADERS and, where it is longer than a frame, CONTINUATION. */
export function writeHeaderBlock(
  connection: Connection,
  id: number,
  block: Uint8Array,
  isLast: boolean,
): void {
  const { output } = connection;
  let bytes = block;
  if (connection.mustSignalTableSize) {
    // RFC 7541 section 4.2: the peer made our table smaller; we never use it, so it may as well be empty.
    connection.mustSignalTableSize = false;
    bytes = new Uint8Array(block.length + 1);
    bytes[0] = 0x20;
    bytes.set(block, 1);
  }
  for (let from = 0; ; from += MAX_FRAME_BYTES) {
    const size = Math.min(bytes.length - from, MAX_FRAME_BYTES);
    const flags =
      (from + size === bytes.length ? Flag.END_HEADERS : 0) | (from === 0 && isLast ? Flag.END_STREAM : 0);
    const type = from === 0 ? FrameType.HEADERS : FrameType.CONTINUATION;
    const out = output.room(FRAME_HEADER_BYTES + size);
    const at = writeFrameHeader(out, output.length, size, type, flags, id);
    out.set(bytes.subarray(from, from + size), at);
    output.length = at + size;
    if (from + size === bytes.length) return;
  }
}

/** The handler's result is known: counted and observed once. */
export function settle(stream: Stream, code: StatusCode): void {
  stream.finished = true;
  const { connection } = stream;
  const { host } = connection;
  if (stream.isPending) {
    stream.isPending = false;
    host.activeCalls -= 1;
    host.deadlines.remove(stream);
  }
  connection.ended?.add(stream, code);
}

/** We have ended our side. Where the peer has not, it need not go on: RST_STREAM with NO_ERROR (RFC 9113 section 8.1). */
export function closeLocal(stream: Stream): void {
  const { connection } = stream;
  if (!stream.remoteClosed) connection.sendReset(stream.id, ErrorCode.NO_ERROR);
  connection.closeStream(stream);
}

/** Copies a frame template, its stream id (the 4 bytes at 5) patched. A loop: `set` costs twice that for 20 bytes. */
function copyTemplate(out: Uint8Array, at: number, template: Uint8Array, id: number): number {
  const length = template.length;
  for (let index = 0; index < length; index++) out[at + index] = template[index]!;
  writeUint32(out, at + 5, id);
  return at + length;
}
