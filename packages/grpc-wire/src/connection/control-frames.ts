/** Frames that carry no call: what they must look like, and what they do. Each returns where reading goes on, or `STOP`. */
import { ErrorCode, Flag, MAX_WINDOW } from "../frames/constants.ts";
import { STOP } from "../frames/reader.ts";
import { readUint32 } from "../frames/write.ts";
import type { Connection } from "./connection.ts";
import { writePing, writeSettingsAck } from "./control-writer.ts";
import { Closed } from "./guard.ts";
import { applySettings } from "./settings.ts";

export function onPriority(
  connection: Connection,
  bytes: Buffer,
  start: number,
  next: number,
  id: number,
): number {
  if (id === 0) return connection.protocolError("PRIORITY on stream 0");
  const stream = connection.streams.get(id);
  const isSelf = next - start === 5 && (readUint32(bytes, start) & MAX_WINDOW) === id;
  if (next - start !== 5 || isSelf) {
    stream?.cancel();
    connection.resetStream(id, isSelf ? ErrorCode.PROTOCOL_ERROR : ErrorCode.FRAME_SIZE_ERROR);
    return connection.isDead ? STOP : next;
  }
  return connection.idle(next);
}

export function onReset(connection: Connection, start: number, next: number, id: number): number {
  if (id === 0) return connection.protocolError("RST_STREAM on stream 0");
  if (next - start !== 4) return connection.frameSizeError("RST_STREAM");
  if (id > connection.lastStreamId)
    return id > connection.lifecycle.lastAcceptedId
      ? connection.idle(next, "frames on closed streams")
      : connection.protocolError(`RST_STREAM on the idle stream ${id}`);
  const stream = connection.streams.get(id);
  if (stream !== undefined) {
    stream.cancel();
    connection.closeStream(stream);
    connection.resetStreams.add(id, Closed.BY_PEER);
  }
  return connection.resets.spend(connection.now, connection.answered)
    ? next
    : connection.calm("too many streams are reset");
}

export function onSettings(
  connection: Connection,
  bytes: Buffer,
  start: number,
  next: number,
  flags: number,
  id: number,
): number {
  if (id !== 0) return connection.protocolError("SETTINGS on a stream");
  if (flags & Flag.ACK)
    return next - start === 0 ? connection.idle(next) : connection.frameSizeError("SETTINGS");
  if ((next - start) % 6 !== 0) return connection.frameSizeError("SETTINGS");
  const fault = applySettings(connection, bytes, start, next);
  if (fault !== undefined) {
    connection.fail(fault.code, fault.message);
    return STOP;
  }
  connection.settingsSeen = true;
  writeSettingsAck(connection.output);
  return connection.idle(next);
}

export function onPing(
  connection: Connection,
  bytes: Buffer,
  start: number,
  next: number,
  flags: number,
  id: number,
): number {
  if (id !== 0) return connection.protocolError("PING on a stream");
  if (next - start !== 8) return connection.frameSizeError("PING");
  if (flags & Flag.ACK) {
    connection.lifecycle.onPingAck(bytes, start);
    return connection.isDead ? STOP : connection.idle(next);
  }
  if (!connection.lifecycle.isPingWelcome()) return connection.calm("too_many_pings");
  writePing(connection.output, Flag.ACK, bytes.subarray(start, next));
  return next;
}

export function onWindowUpdate(
  connection: Connection,
  bytes: Buffer,
  start: number,
  next: number,
  id: number,
): number {
  if (next - start !== 4) return connection.frameSizeError("WINDOW_UPDATE");
  if (!connection.spendWindowUpdate()) return connection.calm("too many WINDOW_UPDATE frames");
  const increment = readUint32(bytes, start) & MAX_WINDOW;
  if (id === 0) {
    if (increment === 0) return connection.protocolError("WINDOW_UPDATE of 0");
    if (connection.sendWindow + increment > MAX_WINDOW) {
      connection.fail(ErrorCode.FLOW_CONTROL_ERROR, "the connection's window is larger than 2^31-1");
      return STOP;
    }
    connection.sendWindow += increment;
    return next;
  }
  const stream = connection.streams.get(id);
  if (stream === undefined)
    return id > connection.lastStreamId && id <= connection.lifecycle.lastAcceptedId
      ? connection.protocolError(`WINDOW_UPDATE on the idle stream ${id}`)
      : next;
  if (increment === 0 || stream.sendWindow + increment > MAX_WINDOW) {
    stream.cancel();
    connection.resetStream(id, increment === 0 ? ErrorCode.PROTOCOL_ERROR : ErrorCode.FLOW_CONTROL_ERROR);
    return connection.isDead ? STOP : next;
  }
  stream.sendWindow += increment;
  connection.sending.onWindow(stream);
  return next;
}

export function onGoaway(connection: Connection, start: number, next: number, id: number): number {
  if (id !== 0) return connection.protocolError("GOAWAY on a stream");
  return next - start < 8 ? connection.frameSizeError("GOAWAY") : connection.idle(next);
}
