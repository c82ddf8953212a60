/** Writes a whole response directly into a connection's output: headers, one DATA frame and trailers. */
import { FRAME_HEADER_BYTES, FrameType, MAX_FRAME_BYTES } from "../frames/constants.ts";
import { writeFrameHeader, writeUint32 } from "../frames/write.ts";
import type { Sender } from "./sender.ts";

/** A full output still takes content up to this size. The requests of one read are about as long as their responses. */
const SMALL_BYTES = 256;

/** Makes room for a response with content of at most `maxBytes`. */
export function reserveResponse(
  { output }: Sender,
  headers: Uint8Array,
  maxBytes: number,
  trailers: Uint8Array,
): Buffer {
  const before = headers.length + FRAME_HEADER_BYTES;
  return output.reserve(before + maxBytes + trailers.length, before);
}

/** Whether the connection can send a response with content of `size` bytes at once. */
export function canSendInPlace(sender: Sender, size: number): boolean {
  return (
    size <= MAX_FRAME_BYTES &&
    size <= sender.window &&
    (size <= SMALL_BYTES || !sender.output.isFull) &&
    !sender.mustSignalTableSize
  );
}

/** Completes a response whose content, `size` bytes, is already in its place. */
export function writeAroundContent(
  sender: Sender,
  id: number,
  headers: Uint8Array,
  size: number,
  trailers: Uint8Array,
): void {
  const { output } = sender;
  const out = output.bytes;
  const at = copyTemplate(out, output.length, headers, id);
  const content = writeFrameHeader(out, at, size, FrameType.DATA, 0, id);
  output.advance(copyTemplate(out, content + size, trailers, id));
  sender.takeWindow(size);
}

/** Copies a frame template and sets its stream id, the 4 bytes at 5. `set` takes twice as long as this loop for 20 bytes. */
function copyTemplate(out: Uint8Array, at: number, template: Uint8Array, id: number): number {
  const length = template.length;
  for (let index = 0; index < length; index++) out[at + index] = template[index]!;
  writeUint32(out, at + 5, id);
  return at + length;
}
