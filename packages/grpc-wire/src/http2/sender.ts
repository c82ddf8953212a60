import {
  DEFAULT_WINDOW,
  type ErrorCode,
  Flag,
  FRAME_HEADER_BYTES,
  FrameType,
  MAX_FRAME_BYTES,
  MAX_WINDOW,
} from "../frames/constants.ts";
import { writeFrameHeader } from "../frames/write.ts";
import { ByteCount } from "./byte-count.ts";
import { writeGoaway, writePing, writeReset, writeSettingsAck, writeWindowUpdate } from "./control-writer.ts";
import type { Http2Limits } from "./options.ts";
import type { Output } from "./output.ts";
import { type Sendable, SendSchedule } from "./send-schedule.ts";

/** The sending half of a connection: its send window, its queue of streams, and all frames that it writes. */
export class Sender {
  readonly #output: Output;
  readonly #limits: Http2Limits;
  readonly #queued: ByteCount;
  readonly #schedule: SendSchedule;
  readonly #hasWindow = () => this.#window > 0;
  #window = DEFAULT_WINDOW;
  /** The peer made the header table smaller. The next header block has to acknowledge that. */
  #mustSignalTableSize = false;
  #answered = 0;
  #dataFramesSent = 0;

  constructor(output: Output, limits: Http2Limits, queued: ByteCount) {
    this.#output = output;
    this.#limits = limits;
    this.#queued = new ByteCount(queued);
    this.#schedule = new SendSchedule(output);
  }

  get output(): Output {
    return this.#output;
  }

  /** Bytes that the peer's connection window allows. */
  get window(): number {
    return this.#window;
  }

  get mustSignalTableSize(): boolean {
    return this.#mustSignalTableSize;
  }

  /** Responses that ended since the start. */
  get answered(): number {
    return this.#answered;
  }

  /** DATA frames of queued content sent since the start. */
  get dataFramesSent(): number {
    return this.#dataFramesSent;
  }

  countAnswer(): void {
    this.#answered += 1;
  }

  countQueued(change: number): void {
    this.#queued.add(change);
  }

  /**
   * Whether too many bytes wait for a window, after all that can leave has left. When the server's sum is the reason, a
   * connection on which nothing waits is served all the same: one slow reader must not block the others.
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

  /** False when the window would be larger than HTTP/2 allows. */
  growWindow(increment: number): boolean {
    if (this.#window + increment > MAX_WINDOW) return false;
    this.#window += increment;
    return true;
  }

  takeWindow(size: number): void {
    this.#window -= size;
  }

  signalTableSize(): void {
    this.#mustSignalTableSize = true;
  }

  /** Sends what waits on `stream` as the windows allow: at the end of the read, or at once outside of one. */
  schedule(stream: Sendable): void {
    this.#schedule.add(stream);
    if (!this.#output.corked) this.pump();
  }

  /** The stream's window was opened, within a read. */
  scheduleLater(stream: Sendable): void {
    this.#schedule.add(stream);
  }

  unschedule(stream: Sendable): void {
    this.#schedule.remove(stream);
  }

  pump(): void {
    this.#schedule.pump(this.#hasWindow);
  }

  /** The header of a DATA frame and room for its content. Returns where the content goes in `output.bytes`. */
  beginData(id: number, size: number, isLast: boolean): number {
    const output = this.#output;
    const out = output.room(FRAME_HEADER_BYTES + size);
    const flags = isLast ? Flag.END_STREAM : 0;
    const at = writeFrameHeader(out, output.length, size, FrameType.DATA, flags, id);
    this.#window -= size;
    this.#dataFramesSent += 1;
    output.length = at + size;
    return at;
  }

  /** A header block as HEADERS and, when it is longer than a frame, CONTINUATION. */
  writeHeaders(id: number, block: Uint8Array, isLast: boolean): void {
    const output = this.#output;
    let bytes = block;
    if (this.#mustSignalTableSize) {
      // RFC 7541 section 4.2: the peer made our table smaller. We never use it, so its size may be 0.
      this.#mustSignalTableSize = false;
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

  writeReset(id: number, code: ErrorCode): void {
    writeReset(this.#output, id, code);
  }

  writeWindowUpdate(id: number, increment: number): void {
    writeWindowUpdate(this.#output, id, increment);
  }

  writeSettingsAck(): void {
    writeSettingsAck(this.#output);
  }

  /** `payload`: 8 bytes. */
  writePing(flags: number, payload: Uint8Array): void {
    writePing(this.#output, flags, payload);
  }

  writeGoaway(lastId: number, code: ErrorCode, message: string): void {
    writeGoaway(this.#output, lastId, code, message);
  }
}
