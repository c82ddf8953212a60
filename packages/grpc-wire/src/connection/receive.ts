/** Frames that carry calls: HEADERS, CONTINUATION and DATA; the others are handed on. */
import { ErrorCode, Flag, FRAME_HEADER_BYTES, FrameType, MAX_WINDOW } from "../frames/constants.ts";
import { STOP } from "../frames/reader.ts";
import { readUint32 } from "../frames/write.ts";
import type { Connection } from "./connection.ts";
import { onGoaway, onPing, onPriority, onReset, onSettings, onWindowUpdate } from "./control-frames.ts";
import { writeWindowUpdate } from "./control-writer.ts";
import { Closed } from "./guard.ts";
import { openRequest, receiveData, receiveTrailers } from "./requests.ts";

const STRAY_FRAMES = "frames on closed streams";

/** A header block whose CONTINUATION frames are still to come. */
export interface OpenBlock {
  readonly id: number;
  readonly ended: boolean;
  readonly selfDependent: boolean;
  parts: Buffer[];
  bytes: number;
  continuations: number;
}

/** One whole frame, `bytes[at, next)`. Returns where reading goes on, or `STOP`; see `FrameSink`. */
export function receiveFrame(
  connection: Connection,
  bytes: Buffer,
  at: number,
  next: number,
  limit: number,
): number {
  const type = bytes[at + 3]!;
  const flags = bytes[at + 4]!;
  const id = readUint32(bytes, at + 5) & MAX_WINDOW;
  const start = at + FRAME_HEADER_BYTES;
  if (connection.block !== undefined && (type !== FrameType.CONTINUATION || id !== connection.block.id))
    return connection.protocolError("a header block was not continued");
  if (!connection.settingsSeen && (type !== FrameType.SETTINGS || flags & Flag.ACK))
    return connection.protocolError("the first frame is not SETTINGS");
  switch (type) {
    case FrameType.DATA:
      return onDataFrame(connection, bytes, start, next, limit, flags, id);
    case FrameType.HEADERS:
      return onHeaders(connection, bytes, start, next, flags, id);
    case FrameType.CONTINUATION:
      return onContinuation(connection, bytes, start, next, flags);
    case FrameType.PRIORITY:
      return onPriority(connection, bytes, start, next, id);
    case FrameType.RST_STREAM:
      return onReset(connection, start, next, id);
    case FrameType.SETTINGS:
      return onSettings(connection, bytes, start, next, flags, id);
    case FrameType.PING:
      return onPing(connection, bytes, start, next, flags, id);
    case FrameType.GOAWAY:
      return onGoaway(connection, start, next, id);
    case FrameType.WINDOW_UPDATE:
      return onWindowUpdate(connection, bytes, start, next, id);
    case FrameType.PUSH_PROMISE:
      return connection.protocolError("a client may not push");
    default:
      return connection.idle(next);
  }
}

function onHeaders(
  connection: Connection,
  bytes: Buffer,
  start: number,
  next: number,
  flags: number,
  id: number,
): number {
  if ((id & 1) === 0) return connection.protocolError("HEADERS on a stream that a client cannot open");
  let end = next;
  let from = start;
  if (flags & Flag.PADDED) {
    if (from >= end) return connection.frameSizeError("HEADERS");
    end -= bytes[from]!;
    from += 1;
  }
  let selfDependent = false;
  if (flags & Flag.PRIORITY) {
    if (next - from < 5) return connection.frameSizeError("HEADERS");
    selfDependent = (readUint32(bytes, from) & MAX_WINDOW) === id;
    from += 5;
  }
  if (from > end) return connection.protocolError("HEADERS with more padding than content");
  if (end - from > connection.host.limits.maxHeaderBlockBytes)
    return connection.calm("a header block is too long");
  const ended = (flags & Flag.END_STREAM) !== 0;
  if (flags & Flag.END_HEADERS)
    return onBlock(connection, bytes, from, end, id, ended, selfDependent) ? next : STOP;
  const part = Buffer.from(bytes.subarray(from, end));
  connection.block = { id, ended, selfDependent, parts: [part], bytes: part.length, continuations: 0 };
  return next;
}

function onContinuation(
  connection: Connection,
  bytes: Buffer,
  start: number,
  next: number,
  flags: number,
): number {
  const block = connection.block;
  if (block === undefined) return connection.protocolError("CONTINUATION without a header block");
  const { limits } = connection.host;
  block.continuations += 1;
  block.bytes += next - start;
  if (block.continuations > limits.maxContinuationFrames || block.bytes > limits.maxHeaderBlockBytes)
    return connection.calm("a header block is too long");
  block.parts.push(Buffer.from(bytes.subarray(start, next)));
  if (!(flags & Flag.END_HEADERS)) return next;
  connection.block = undefined;
  const whole = Buffer.concat(block.parts);
  return onBlock(connection, whole, 0, whole.length, block.id, block.ended, block.selfDependent)
    ? next
    : STOP;
}

/** A whole header block. False where the connection ends. */
function onBlock(
  connection: Connection,
  bytes: Buffer,
  start: number,
  end: number,
  id: number,
  ended: boolean,
  selfDependent: boolean,
): boolean {
  const stream = connection.streams.get(id);
  if (stream === undefined && id > connection.lastStreamId) {
    if (id > connection.lastStreamId + 2) connection.skippedIds = true;
    const head = connection.headers.readRequest(bytes, start, end);
    if (head === undefined) return connection.compressionError();
    if (id > connection.lifecycle.lastAcceptedId) return connection.idle(0, STRAY_FRAMES) !== STOP;
    connection.lastStreamId = id;
    if (selfDependent) connection.resetStream(id, ErrorCode.PROTOCOL_ERROR);
    else openRequest(connection, id, head, ended);
    return !connection.isDead;
  }
  const fields = connection.headers.readFields(bytes, start, end);
  if (fields === undefined) return connection.compressionError();
  if (stream !== undefined) receiveTrailers(stream, fields, ended && !selfDependent);
  else if (connection.resetStreams.lookup(id) === Closed.UNKNOWN) {
    const wasOpen = id === connection.lastStreamId || !connection.skippedIds;
    connection.fail(
      wasOpen ? ErrorCode.STREAM_CLOSED : ErrorCode.PROTOCOL_ERROR,
      `HEADERS on the closed stream ${id}`,
    );
  } else if (connection.resetStreams.lookup(id) === Closed.BY_PEER)
    connection.resetStream(id, ErrorCode.STREAM_CLOSED);
  else connection.idle(0, STRAY_FRAMES);
  return !connection.isDead;
}

function onDataFrame(
  connection: Connection,
  bytes: Buffer,
  start: number,
  next: number,
  limit: number,
  flags: number,
  id: number,
): number {
  if (id === 0) return connection.protocolError("DATA on stream 0");
  const size = next - start;
  connection.receiveWindow -= size;
  const { connectionWindowBytes } = connection.host.limits;
  if (connection.receiveWindow < 0) {
    connection.fail(ErrorCode.FLOW_CONTROL_ERROR, "the connection's window is overrun");
    return STOP;
  }
  if (connection.receiveWindow < connectionWindowBytes >>> 1) {
    writeWindowUpdate(connection.output, 0, connectionWindowBytes - connection.receiveWindow);
    connection.receiveWindow = connectionWindowBytes;
  }
  let from = start;
  let end = next;
  if (flags & Flag.PADDED) {
    if (size < 1) return connection.frameSizeError("DATA");
    end -= bytes[from]!;
    from += 1;
    if (from > end) return connection.protocolError("DATA with more padding than content");
  }
  const ended = (flags & Flag.END_STREAM) !== 0;
  if (from === end && !ended && !connection.idleFrames.spend(connection.now, connection.answered))
    return connection.calm("too many empty DATA frames");
  const stream = connection.streams.get(id);
  if (stream === undefined) return onStray(connection, id, next, "DATA");
  if (stream.remoteClosed) {
    stream.cancel();
    connection.resetStream(id, ErrorCode.STREAM_CLOSED);
    return connection.isDead ? STOP : next;
  }
  stream.receiveWindow -= size;
  if (stream.receiveWindow < 0) {
    stream.cancel();
    connection.resetStream(id, ErrorCode.FLOW_CONTROL_ERROR);
    return connection.isDead ? STOP : next;
  }
  const after = receiveData(stream, bytes, from, end, ended, next, limit);
  return connection.isDead ? STOP : after;
}

/** DATA or the like on a stream that is not open. */
function onStray(connection: Connection, id: number, next: number, what: string): number {
  if (id > connection.lastStreamId)
    return id > connection.lifecycle.lastAcceptedId
      ? connection.idle(next, STRAY_FRAMES)
      : connection.protocolError(`${what} on the idle stream ${id}`);
  const how = connection.resetStreams.lookup(id);
  if (how === Closed.BY_US) return connection.idle(next, STRAY_FRAMES);
  if (how === Closed.BY_PEER) {
    connection.resetStream(id, ErrorCode.STREAM_CLOSED);
    return connection.isDead ? STOP : next;
  }
  connection.fail(ErrorCode.STREAM_CLOSED, `${what} on the closed stream ${id}`);
  return STOP;
}
