import {
  DEFAULT_WINDOW,
  type ErrorCode,
  Flag,
  FRAME_HEADER_BYTES,
  FrameType,
  MAX_FRAME_BYTES,
  MAX_WINDOW,
} from "../frames/constants.ts";
import { frame, writeFrameHeader, writeUint32 } from "../frames/write.ts";
import { ByteCount } from "./byte-count.ts";
import type { Http2Limits } from "./options.ts";
import type { Output } from "./output.ts";
import { type Sendable, SendSchedule } from "./send-schedule.ts";

/** The sending side of a connection: its window, its schedule of streams, and its frames. */
export class Sender {
  readonly output: Output;
  readonly #limits: Http2Limits;
  readonly #queued: ByteCount;
  readonly #schedule: SendSchedule;
  readonly #hasWindow = () => this.window > 0;
  /** The connection's send window. */
  window = DEFAULT_WINDOW;
  /** The peer reduced SETTINGS_HEADER_TABLE_SIZE. The next header block must acknowledge that. */
  mustSignalTableSize = false;
  /** The number of completed responses since the start. */
  answered = 0;
  /** The number of DATA frames with queued content sent since the start. */
  dataFramesSent = 0;

  constructor(output: Output, limits: Http2Limits, queued: ByteCount) {
    this.output = output;
    this.#limits = limits;
    this.#queued = new ByteCount(queued);
    this.#schedule = new SendSchedule(output);
  }

  /** Adds to the count of queued bytes: also bytes that the layer above will queue later, or no longer will. */
  countQueued(change: number): void {
    this.#queued.add(change);
  }

  /**
   * Whether too many bytes are queued. First sends all bytes that the windows allow. Above the limit of the whole server, a
   * connection without queued bytes is still served: one slow reader must not block the others.
   */
  isQueueFull(): boolean {
    if (this.#queued.bytes === 0 || !this.#isAboveLimit()) return false;
    this.pump();
    return this.#queued.bytes > 0 && this.#isAboveLimit();
  }

  #isAboveLimit(): boolean {
    const { maxQueuedBytesPerConnection, maxQueuedBytes } = this.#limits;
    return this.#queued.bytes > maxQueuedBytesPerConnection || this.#queued.total > maxQueuedBytes;
  }

  /** Returns false when the window would exceed 2^31-1. */
  growWindow(increment: number): boolean {
    if (this.window + increment > MAX_WINDOW) return false;
    this.window += increment;
    return true;
  }

  /** Sends the queued content of `stream` as the windows allow. Inside a read, it waits for the end of the read. */
  schedule(stream: Sendable): void {
    this.#schedule.add(stream);
    if (!this.output.isCorked) this.pump();
  }

  /** Schedules a stream like `schedule`, but leaves the sending to the next `pump`. */
  scheduleLater(stream: Sendable): void {
    this.#schedule.add(stream);
  }

  unschedule(stream: Sendable): void {
    this.#schedule.remove(stream);
  }

  pump(): void {
    this.#schedule.pump(this.#hasWindow);
  }

  /** Writes the header of a DATA frame. The caller writes the content into `output.bytes`, at the returned position. */
  beginData(id: number, size: number, isLast: boolean): number {
    const output = this.output;
    const out = output.room(FRAME_HEADER_BYTES + size);
    const flags = isLast ? Flag.END_STREAM : 0;
    const at = writeFrameHeader(out, output.length, size, FrameType.DATA, flags, id);
    this.window -= size;
    this.dataFramesSent += 1;
    output.length = at + size;
    return at;
  }

  /** Writes a header block as HEADERS and, when it exceeds one frame, CONTINUATION. */
  writeHeaders(id: number, block: Uint8Array, isLast: boolean): void {
    const output = this.output;
    let bytes = block;
    if (this.mustSignalTableSize) {
      // RFC 7541 section 4.2: the block begins with a size update. The encoder never uses the table, so the size is 0.
      this.mustSignalTableSize = false;
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

  // Frames without content (RFC 9113 sections 6.4, 6.5, 6.7 to 6.9)

  writeReset(id: number, code: ErrorCode): void {
    this.output.write(frame(FrameType.RST_STREAM, 0, id, words(code)));
  }

  writeWindowUpdate(id: number, increment: number): void {
    this.output.write(frame(FrameType.WINDOW_UPDATE, 0, id, words(increment)));
  }

  writeSettingsAck(): void {
    this.output.write(frame(FrameType.SETTINGS, Flag.ACK, 0, words()));
  }

  /** @param payload 8 bytes */
  writePing(flags: number, payload: Uint8Array): void {
    this.output.write(frame(FrameType.PING, flags, 0, payload));
  }

  writeGoaway(lastId: number, code: ErrorCode, message: string): void {
    const payload = Buffer.concat([words(lastId, code), Buffer.from(message)]);
    this.output.write(frame(FrameType.GOAWAY, 0, 0, payload));
  }
}

/** Numbers of 32 bits, in the order of the network. */
function words(...numbers: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(4 * numbers.length);
  for (let index = 0; index < numbers.length; index++) writeUint32(bytes, 4 * index, numbers[index]!);
  return bytes;
}
