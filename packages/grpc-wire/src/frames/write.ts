import { FRAME_HEADER_BYTES } from "./constants.ts";

/** Writes a frame's header at `at`. Returns the position of its payload. */
export function writeFrameHeader(
  out: Uint8Array,
  at: number,
  length: number,
  type: number,
  flags: number,
  streamId: number,
): number {
  out[at] = length >>> 16;
  out[at + 1] = length >>> 8;
  out[at + 2] = length;
  out[at + 3] = type;
  out[at + 4] = flags;
  out[at + 5] = streamId >>> 24;
  out[at + 6] = streamId >>> 16;
  out[at + 7] = streamId >>> 8;
  out[at + 8] = streamId;
  return at + FRAME_HEADER_BYTES;
}

export function writeUint32(out: Uint8Array, at: number, value: number): number {
  out[at] = value >>> 24;
  out[at + 1] = value >>> 16;
  out[at + 2] = value >>> 8;
  out[at + 3] = value;
  return at + 4;
}

export function readUint32(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}

/** Creates a whole frame in new memory, for templates and rare frames. */
export function frame(type: number, flags: number, streamId: number, payload: Uint8Array): Uint8Array {
  const out = new Uint8Array(FRAME_HEADER_BYTES + payload.length);
  writeFrameHeader(out, 0, payload.length, type, flags, streamId);
  out.set(payload, FRAME_HEADER_BYTES);
  return out;
}

/**
 * Copies a whole frame to `at`, and sets its stream id. Returns the position after it. For 20 bytes, `set` takes twice as
 * long as this loop.
 */
export function writeTemplate(out: Uint8Array, at: number, template: Uint8Array, streamId: number): number {
  const length = template.length;
  for (let index = 0; index < length; index++) out[at + index] = template[index]!;
  writeUint32(out, at + 5, streamId);
  return at + length;
}
