import { ErrorCode, Flag, FRAME_HEADER_BYTES, FrameType, MAX_WINDOW } from "../frames/constants.ts";
import { readUint32 } from "../frames/write.ts";
import { HpackDecoder } from "../hpack/decoder.ts";
import type { AbuseLimits } from "./abuse-limits.ts";
import { Closed } from "./closed-streams.ts";
import type { ConnectionErrors } from "./connection-errors.ts";
import { type ControlDependencies, ControlFrames } from "./control-frames.ts";
import { HeaderAssembly } from "./header-assembly.ts";
import type { Http2Limits } from "./options.ts";
import { readHead } from "./request-head.ts";
import type { Sender } from "./sender.ts";
import type { PeerSettings } from "./settings.ts";
import type { Streams } from "./streams.ts";

const STRAY_FRAMES = "frames on closed streams";

export interface ReceiverDependencies extends ControlDependencies {
  readonly limits: Http2Limits;
}

/** Receives all frames of a connection. Handles HEADERS, CONTINUATION and DATA, and passes the others to `ControlFrames`. */
export class FrameReceiver {
  readonly #limits: Http2Limits;
  readonly #streams: Streams;
  readonly #sender: Sender;
  readonly #settings: PeerSettings;
  readonly #abuse: AbuseLimits;
  readonly #errors: ConnectionErrors;
  readonly #control: ControlFrames;
  readonly #decoder = new HpackDecoder();
  #assembly: HeaderAssembly | undefined;
  #window: number;

  constructor(deps: ReceiverDependencies) {
    this.#limits = deps.limits;
    this.#streams = deps.streams;
    this.#sender = deps.sender;
    this.#settings = deps.settings;
    this.#abuse = deps.abuse;
    this.#errors = deps.errors;
    this.#control = new ControlFrames(deps);
    this.#window = deps.limits.connectionWindowBytes;
  }

  /** Whether a header block is incomplete. */
  get isMidBlock(): boolean {
    return this.#assembly !== undefined;
  }

  /** Handles one whole frame, `bytes[at, next)`. Returns the position where reading continues, or `STOP`; see `FrameSink`. */
  onFrame(bytes: Buffer, at: number, next: number, limit: number): number {
    const type = bytes[at + 3]!;
    const flags = bytes[at + 4]!;
    const id = readUint32(bytes, at + 5) & MAX_WINDOW;
    const start = at + FRAME_HEADER_BYTES;
    if (this.#assembly !== undefined && (type !== FrameType.CONTINUATION || id !== this.#assembly.id))
      return this.#errors.protocolError("a frame interrupts a header block: CONTINUATION must follow");
    if (!this.#settings.isSeen && (type !== FrameType.SETTINGS || flags & Flag.ACK))
      return this.#errors.protocolError("the first frame is not SETTINGS");
    switch (type) {
      case FrameType.DATA:
        return this.#onData(bytes, start, next, limit, flags, id);
      case FrameType.HEADERS:
        return this.#onHeaders(bytes, start, next, flags, id);
      case FrameType.CONTINUATION:
        return this.#onContinuation(bytes, start, next, flags);
      case FrameType.PRIORITY:
        return this.#control.onPriority(bytes, start, next, id);
      case FrameType.RST_STREAM:
        return this.#control.onReset(start, next, id);
      case FrameType.SETTINGS:
        return this.#control.onSettings(bytes, start, next, flags, id);
      case FrameType.PING:
        return this.#control.onPing(bytes, start, next, flags, id);
      case FrameType.GOAWAY:
        return this.#control.onGoaway(start, next, id);
      case FrameType.WINDOW_UPDATE:
        return this.#control.onWindowUpdate(bytes, start, next, id);
      case FrameType.PUSH_PROMISE:
        return this.#errors.protocolError("PUSH_PROMISE from a client");
      default:
        return this.#control.onIdle(next);
    }
  }

  #onHeaders(bytes: Buffer, start: number, next: number, flags: number, id: number): number {
    if ((id & 1) === 0) return this.#errors.protocolError("HEADERS on a stream that a client cannot open");
    let end = next;
    let from = start;
    if (flags & Flag.PADDED) {
      if (from >= end) return this.#errors.frameSizeError("HEADERS");
      end -= bytes[from]!;
      from += 1;
    }
    let selfDependent = false;
    if (flags & Flag.PRIORITY) {
      if (next - from < 5) return this.#errors.frameSizeError("HEADERS");
      selfDependent = (readUint32(bytes, from) & MAX_WINDOW) === id;
      from += 5;
    }
    if (from > end) return this.#errors.protocolError("HEADERS with more padding than content");
    if (end - from > this.#limits.maxHeaderBlockBytes)
      return this.#errors.enhanceYourCalm("a header block is too long");
    const ended = (flags & Flag.END_STREAM) !== 0;
    if (flags & Flag.END_HEADERS) return this.#onBlock(bytes, from, end, next, id, ended, selfDependent);
    this.#assembly = new HeaderAssembly(id, ended, selfDependent, bytes.subarray(from, end));
    return next;
  }

  #onContinuation(bytes: Buffer, start: number, next: number, flags: number): number {
    const assembly = this.#assembly;
    if (assembly === undefined) return this.#errors.protocolError("CONTINUATION without a header block");
    if (!assembly.add(bytes.subarray(start, next), this.#limits))
      return this.#errors.enhanceYourCalm("a header block is too long");
    if (!(flags & Flag.END_HEADERS)) return next;
    this.#assembly = undefined;
    const whole = assembly.whole();
    return this.#onBlock(whole, 0, whole.length, next, assembly.id, assembly.ended, assembly.selfDependent);
  }

  /** Handles a whole header block, `bytes[start, end)`. */
  #onBlock(
    bytes: Buffer,
    start: number,
    end: number,
    next: number,
    id: number,
    ended: boolean,
    selfDependent: boolean,
  ): number {
    const { maxHeaderListBytes } = this.#limits;
    const fields = this.#decoder.decode(bytes, start, end, maxHeaderListBytes);
    if (fields === undefined) return this.#errors.compressionError();
    if (this.#streams.isIdle(id)) {
      if (this.#streams.isAfterGoaway(id)) return this.#control.onIdle(next, STRAY_FRAMES);
      const head = readHead(fields, this.#decoder.listSize > maxHeaderListBytes);
      this.#streams.open(id, head, ended, selfDependent);
      return this.#errors.after(next);
    }
    const stream = this.#streams.get(id);
    if (stream !== undefined) {
      stream.onTrailers(fields, ended && !selfDependent);
      return this.#errors.after(next);
    }
    switch (this.#streams.closedBy(id)) {
      case Closed.BY_US:
        return this.#control.onIdle(next, STRAY_FRAMES);
      case Closed.BY_PEER:
        this.#streams.resetStream(id, ErrorCode.STREAM_CLOSED);
        return this.#errors.after(next);
      default:
        return this.#errors.fail(
          this.#streams.wasOpen(id) ? ErrorCode.STREAM_CLOSED : ErrorCode.PROTOCOL_ERROR,
          `HEADERS on the closed stream ${id}`,
        );
    }
  }

  #onData(bytes: Buffer, start: number, next: number, limit: number, flags: number, id: number): number {
    if (id === 0) return this.#errors.protocolError("DATA on stream 0");
    const size = next - start;
    if (!this.#takeWindow(size)) return this.#errors.flowControlError("DATA exceeds the connection's window");
    let from = start;
    let end = next;
    if (flags & Flag.PADDED) {
      if (size < 1) return this.#errors.frameSizeError("DATA");
      end -= bytes[from]!;
      from += 1;
      if (from > end) return this.#errors.protocolError("DATA with more padding than content");
    }
    let ended = (flags & Flag.END_STREAM) !== 0;
    let after = next;
    if (!ended) {
      if (from === end) {
        if (!this.#abuse.chargeIdleFrame()) return this.#errors.enhanceYourCalm("too many empty DATA frames");
      } else if (isEmptyLastData(bytes, next, limit, id)) {
        // An empty DATA frame with END_STREAM follows the content directly. Both frames become one event.
        ended = true;
        after = next + FRAME_HEADER_BYTES;
      }
    }
    const stream = this.#streams.get(id);
    if (stream === undefined) return this.#onStrayData(id, after);
    stream.onData(bytes, from, end, size, ended);
    return this.#errors.after(after);
  }

  /** Sends WINDOW_UPDATE when less than half of the connection's window is left. Returns false when the peer exceeded it. */
  #takeWindow(size: number): boolean {
    this.#window -= size;
    const { connectionWindowBytes } = this.#limits;
    if (this.#window < 0) return false;
    if (this.#window < connectionWindowBytes >>> 1) {
      this.#sender.writeWindowUpdate(0, connectionWindowBytes - this.#window);
      this.#window = connectionWindowBytes;
    }
    return true;
  }

  /** Handles DATA on a stream that is not open. */
  #onStrayData(id: number, next: number): number {
    if (this.#streams.isIdle(id))
      return this.#streams.isAfterGoaway(id)
        ? this.#control.onIdle(next, STRAY_FRAMES)
        : this.#errors.protocolError(`DATA on the idle stream ${id}`);
    switch (this.#streams.closedBy(id)) {
      case Closed.BY_US:
        return this.#control.onIdle(next, STRAY_FRAMES);
      case Closed.BY_PEER:
        this.#streams.resetStream(id, ErrorCode.STREAM_CLOSED);
        return this.#errors.after(next);
      default:
        return this.#errors.fail(ErrorCode.STREAM_CLOSED, `DATA on the closed stream ${id}`);
    }
  }
}

/** Whether an empty DATA frame with END_STREAM for the stream `id` begins at `at`. */
function isEmptyLastData(bytes: Buffer, at: number, limit: number, id: number): boolean {
  return (
    limit - at >= FRAME_HEADER_BYTES &&
    bytes[at] === 0 &&
    bytes[at + 1] === 0 &&
    bytes[at + 2] === 0 &&
    bytes[at + 3] === FrameType.DATA &&
    bytes[at + 4] === Flag.END_STREAM &&
    readUint32(bytes, at + 5) === id
  );
}
