import { ErrorCode, Flag, MAX_WINDOW } from "../frames/constants.ts";
import { readUint32 } from "../frames/write.ts";
import type { AbuseLimits } from "./abuse-limits.ts";
import { Closed } from "./closed-streams.ts";
import type { ConnectionErrors } from "./connection-errors.ts";
import type { Sender } from "./sender.ts";
import type { PeerSettings } from "./settings.ts";
import type { Streams } from "./streams.ts";

/** The frames of `onIdle` for streams that are not open. */
export const STRAY_FRAMES = "frames on closed streams";

/** Handles PING frames. */
export interface PingListener {
  /** Whether to answer a PING. False after too many PINGs in too short a time. */
  isPingWelcome(): boolean;
  onPingAck(bytes: Buffer, start: number): void;
}

export interface ControlDependencies {
  readonly streams: Streams;
  readonly sender: Sender;
  readonly settings: PeerSettings;
  readonly abuse: AbuseLimits;
  readonly errors: ConnectionErrors;
  readonly pings: PingListener;
}

/** Checks and applies the frames without request content. Each method returns the position where reading continues. */
export class ControlFrames {
  readonly #deps: ControlDependencies;

  constructor(deps: ControlDependencies) {
    this.#deps = deps;
  }

  /** Handles a frame that carries no work. */
  onIdle(next: number, what = "frames without work"): number {
    const { abuse, errors } = this.#deps;
    return abuse.chargeIdleFrame() ? next : errors.enhanceYourCalm(`too many ${what}`);
  }

  /** Handles DATA on a stream that is not open. */
  onStrayData(next: number, id: number): number {
    const { streams, errors } = this.#deps;
    if (!streams.isIdle(id)) return this.onClosed(next, id, "DATA", ErrorCode.STREAM_CLOSED);
    return streams.isAfterGoaway(id)
      ? this.onIdle(next, STRAY_FRAMES)
      : errors.protocolError(`DATA on the idle stream ${id}`);
  }

  /** Handles a frame on a closed stream. @param code the error if neither side has reset the stream */
  onClosed(next: number, id: number, frame: string, code: ErrorCode): number {
    const { streams, errors } = this.#deps;
    const by = streams.closedBy(id);
    if (by === Closed.BY_US) return this.onIdle(next, STRAY_FRAMES);
    if (by === Closed.UNKNOWN) return errors.fail(code, `${frame} on the closed stream ${id}`);
    streams.resetStream(id, ErrorCode.STREAM_CLOSED);
    return next;
  }

  onPriority(bytes: Buffer, start: number, next: number, id: number): number {
    const { streams, errors } = this.#deps;
    if (id === 0) return errors.protocolError("PRIORITY on stream 0");
    const isSelf = next - start === 5 && (readUint32(bytes, start) & MAX_WINDOW) === id;
    if (next - start === 5 && !isSelf) return this.onIdle(next);
    streams.resetStream(id, isSelf ? ErrorCode.PROTOCOL_ERROR : ErrorCode.FRAME_SIZE_ERROR);
    return next;
  }

  onReset(start: number, next: number, id: number): number {
    const { streams, errors } = this.#deps;
    if (id === 0) return errors.protocolError("RST_STREAM on stream 0");
    if (next - start !== 4) return errors.frameSizeError("RST_STREAM");
    if (streams.isIdle(id))
      return streams.isAfterGoaway(id)
        ? this.onIdle(next, STRAY_FRAMES)
        : errors.protocolError(`RST_STREAM on the idle stream ${id}`);
    streams.onPeerReset(id);
    return next;
  }

  onSettings(bytes: Buffer, start: number, next: number, flags: number, id: number): number {
    const { streams, sender, settings, errors } = this.#deps;
    if (id !== 0) return errors.protocolError("SETTINGS on a stream");
    if (flags & Flag.ACK) return next - start === 0 ? this.onIdle(next) : errors.frameSizeError("SETTINGS");
    if ((next - start) % 6 !== 0) return errors.frameSizeError("SETTINGS");
    const change = settings.apply(bytes, start, next);
    if ("code" in change) return errors.fail(change.code, change.message);
    if (change.smallerTable) sender.mustSignalTableSize = true;
    if (change.window !== 0 && !streams.growSendWindows(change.window))
      return errors.flowControlError("a stream's window exceeds 2^31-1");
    sender.writeSettingsAck();
    return this.onIdle(next);
  }

  onPing(bytes: Buffer, start: number, next: number, flags: number, id: number): number {
    const { sender, pings, errors } = this.#deps;
    if (id !== 0) return errors.protocolError("PING on a stream");
    if (next - start !== 8) return errors.frameSizeError("PING");
    if (flags & Flag.ACK) {
      pings.onPingAck(bytes, start);
      return errors.isEnded ? next : this.onIdle(next);
    }
    if (!pings.isPingWelcome()) return errors.enhanceYourCalm("too_many_pings");
    sender.writePing(Flag.ACK, bytes.subarray(start, next));
    return next;
  }

  onWindowUpdate(bytes: Buffer, start: number, next: number, id: number): number {
    const { streams, sender, abuse, errors } = this.#deps;
    if (next - start !== 4) return errors.frameSizeError("WINDOW_UPDATE");
    if (!abuse.chargeWindowUpdate()) return errors.enhanceYourCalm("too many WINDOW_UPDATE frames");
    const increment = readUint32(bytes, start) & MAX_WINDOW;
    if (id === 0) {
      if (increment === 0) return errors.protocolError("WINDOW_UPDATE with an increment of 0");
      if (!sender.growWindow(increment))
        return errors.flowControlError("the connection's window exceeds 2^31-1");
      return next;
    }
    const stream = streams.get(id);
    if (stream === undefined)
      return streams.isIdle(id) && !streams.isAfterGoaway(id)
        ? errors.protocolError(`WINDOW_UPDATE on the idle stream ${id}`)
        : next;
    if (increment === 0) stream.reset(ErrorCode.PROTOCOL_ERROR);
    else if (!stream.growSendWindow(increment)) stream.reset(ErrorCode.FLOW_CONTROL_ERROR);
    return next;
  }

  onGoaway(start: number, next: number, id: number): number {
    const { errors } = this.#deps;
    if (id !== 0) return errors.protocolError("GOAWAY on a stream");
    return next - start < 8 ? errors.frameSizeError("GOAWAY") : this.onIdle(next);
  }
}
