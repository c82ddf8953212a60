import { FRAME_HEADER_BYTES, MAX_FRAME_BYTES, PREFACE } from "./constants.ts";

/** Receives the frames of a `FrameReader`. */
export interface FrameSink {
  /**
   * Handles the frame `bytes[at, next)`, with its header. `bytes` also holds the following bytes up to `limit`. It is valid
   * during the call only. Returns the position where reading continues: `next`, or a later position when the sink also
   * handled following frames. `stop` ends reading after this frame.
   */
  onFrame(bytes: Buffer, at: number, next: number, limit: number): number;
}

/** Receives what else a `FrameReader` finds. */
export interface ReaderEvents {
  /** The client's connection preface is complete. */
  onPreface(): void;
  /** A frame exceeds the maximum size (RFC 9113 section 4.2). Reading has stopped. */
  onOversizedFrame(length: number): void;
  /** The connection does not start with the HTTP/2 preface. Reading has stopped. */
  onBadPreface(received: Buffer): void;
}

/** Splits a connection's bytes into frames, regardless of their chunks. Between reads it holds only an incomplete frame. */
export class FrameReader {
  readonly #sink: FrameSink;
  readonly #events: ReaderEvents;
  #prefaceSeen = 0;
  #stopped = false;
  /** An incomplete frame. */
  #partial: Buffer | undefined;
  /** The number of bytes in `#partial`. */
  #have = 0;

  constructor(sink: FrameSink, events: ReaderEvents) {
    this.#sink = sink;
    this.#events = events;
  }

  /** Whether the reader holds an incomplete frame. */
  get isMidFrame(): boolean {
    return this.#partial !== undefined;
  }

  read(chunk: Buffer): void {
    if (this.#stopped) return;
    let at = this.#prefaceSeen < PREFACE.length ? this.#readPreface(chunk) : 0;
    if (this.#partial !== undefined) at = this.#completePartial(chunk, at);
    if (at < 0) return;
    const limit = chunk.length;
    while (limit - at >= FRAME_HEADER_BYTES && !this.#stopped) {
      const length = (chunk[at]! << 16) | (chunk[at + 1]! << 8) | chunk[at + 2]!;
      if (length > MAX_FRAME_BYTES) {
        this.#oversized(length);
        return;
      }
      const next = at + FRAME_HEADER_BYTES + length;
      if (next > limit) break;
      at = this.#sink.onFrame(chunk, at, next, limit);
    }
    if (at < limit && !this.#stopped) this.#keep(chunk, at, limit);
  }

  /** Stops reading, and drops the incomplete frame. */
  stop(): void {
    this.#stopped = true;
    this.#partial = undefined;
  }

  #oversized(length: number): void {
    this.stop();
    this.#events.onOversizedFrame(length);
  }

  #readPreface(chunk: Buffer): number {
    let at = 0;
    while (at < chunk.length && this.#prefaceSeen < PREFACE.length) {
      if (chunk[at++] !== PREFACE[this.#prefaceSeen++]) {
        this.stop();
        this.#events.onBadPreface(chunk);
        return -1;
      }
    }
    if (this.#prefaceSeen === PREFACE.length) this.#events.onPreface();
    return at;
  }

  /** Completes the incomplete frame with the bytes from `chunk[at]` on. Returns the position after them, or -1 to stop. */
  #completePartial(chunk: Buffer, at: number): number {
    if (this.#have < FRAME_HEADER_BYTES) at = this.#fill(chunk, at, FRAME_HEADER_BYTES);
    if (this.#have < FRAME_HEADER_BYTES) return chunk.length;
    const head = this.#partial!;
    const length = (head[0]! << 16) | (head[1]! << 8) | head[2]!;
    if (length > MAX_FRAME_BYTES) {
      this.#oversized(length);
      return -1;
    }
    const whole = FRAME_HEADER_BYTES + length;
    at = this.#fill(chunk, at, whole);
    if (this.#have < whole) return chunk.length;
    const frame = this.#partial!;
    this.#partial = undefined;
    this.#sink.onFrame(frame, 0, whole, whole);
    return at;
  }

  /** Takes bytes up to a total of `want`. The buffer grows with the received bytes, not with the announced length. */
  #fill(chunk: Buffer, at: number, want: number): number {
    const taken = Math.min(want - this.#have, chunk.length - at);
    const total = this.#have + taken;
    let partial = this.#partial!;
    if (partial.length < total) {
      partial = Buffer.allocUnsafeSlow(Math.min(want, total * 2));
      this.#partial!.copy(partial, 0, 0, this.#have);
      this.#partial = partial;
    }
    chunk.copy(partial, this.#have, at, at + taken);
    this.#have = total;
    return at + taken;
  }

  #keep(chunk: Buffer, at: number, limit: number): void {
    this.#partial = Buffer.allocUnsafeSlow(limit - at);
    chunk.copy(this.#partial, 0, at, limit);
    this.#have = limit - at;
  }
}
