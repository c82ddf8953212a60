/** Writes the frames that carry no content (RFC 9113 sections 6.4, 6.5, 6.7 to 6.9). */
import { Flag, FRAME_HEADER_BYTES, FrameType } from "../frames/constants.ts";
import { writeFrameHeader, writeUint32 } from "../frames/write.ts";
import type { Output } from "./output.ts";

export function writeSettingsAck(output: Output): void {
  const out = output.room(FRAME_HEADER_BYTES);
  output.advance(writeFrameHeader(out, output.length, 0, FrameType.SETTINGS, Flag.ACK, 0));
}

export function writeWindowUpdate(output: Output, id: number, increment: number): void {
  const out = output.room(FRAME_HEADER_BYTES + 4);
  const at = writeFrameHeader(out, output.length, 4, FrameType.WINDOW_UPDATE, 0, id);
  output.advance(writeUint32(out, at, increment));
}

/** @param payload 8 bytes */
export function writePing(output: Output, flags: number, payload: Uint8Array): void {
  const out = output.room(FRAME_HEADER_BYTES + 8);
  const at = writeFrameHeader(out, output.length, 8, FrameType.PING, flags, 0);
  out.set(payload, at);
  output.advance(at + 8);
}

export function writeGoaway(output: Output, lastId: number, code: number, message: string): void {
  const text = Buffer.from(message, "utf8");
  const out = output.room(FRAME_HEADER_BYTES + 8 + text.length);
  let at = writeFrameHeader(out, output.length, 8 + text.length, FrameType.GOAWAY, 0, 0);
  at = writeUint32(out, at, lastId);
  at = writeUint32(out, at, code);
  out.set(text, at);
  output.advance(at + text.length);
}

export function writeReset(output: Output, id: number, code: number): void {
  const out = output.room(FRAME_HEADER_BYTES + 4);
  const at = writeFrameHeader(out, output.length, 4, FrameType.RST_STREAM, 0, id);
  output.advance(writeUint32(out, at, code));
}
