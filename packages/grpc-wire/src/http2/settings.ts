import { DEFAULT_WINDOW, ErrorCode, FrameType, MAX_WINDOW, Setting } from "../frames/constants.ts";
import { frame, readUint32, writeUint32 } from "../frames/write.ts";
import type { Http2Limits } from "./options.ts";

/** The server's SETTINGS and, for a connection window above the default of HTTP/2, a WINDOW_UPDATE. */
export function initialFrames(limits: Http2Limits): Uint8Array {
  const values: [id: number, value: number][] = [
    [Setting.MAX_CONCURRENT_STREAMS, limits.maxConcurrentStreams],
    [Setting.INITIAL_WINDOW_SIZE, limits.streamWindowBytes],
    [Setting.MAX_HEADER_LIST_SIZE, limits.maxHeaderListBytes],
  ];
  const payload = new Uint8Array(values.length * 6);
  for (const [index, [id, value]] of values.entries()) {
    payload[index * 6 + 1] = id;
    writeUint32(payload, index * 6 + 2, Math.min(value, 0xffffffff));
  }
  const settings = frame(FrameType.SETTINGS, 0, 0, payload);
  const more = limits.connectionWindowBytes - DEFAULT_WINDOW;
  if (more === 0) return settings;
  const update = new Uint8Array(4);
  writeUint32(update, 0, more);
  return Buffer.concat([settings, frame(FrameType.WINDOW_UPDATE, 0, 0, update)]);
}

/** The connection error of an invalid SETTINGS frame. */
export interface SettingsFault {
  readonly code: ErrorCode;
  readonly message: string;
}

/** The effect of one SETTINGS frame. */
export interface SettingsChange {
  /** The change of the streams' send windows in bytes. */
  readonly window: number;
  /** Whether the header table became smaller. */
  readonly smallerTable: boolean;
}

/** The peer's settings that affect a server. */
export class PeerSettings {
  /** Whether the first SETTINGS frame has arrived. */
  isSeen = false;
  /** The send window of a new stream. */
  streamWindow = DEFAULT_WINDOW;
  #tableSize = 4096;

  /** Applies the settings of one frame in order, and ignores unknown ones (RFC 9113 section 6.5.2). */
  apply(bytes: Buffer, start: number, end: number): SettingsChange | SettingsFault {
    const before = this.streamWindow;
    let window = before;
    let smallerTable = false;
    for (let at = start; at < end; at += 6) {
      const value = readUint32(bytes, at + 2);
      switch ((bytes[at]! << 8) | bytes[at + 1]!) {
        case Setting.HEADER_TABLE_SIZE:
          // The encoder never uses the table, but the next block must still acknowledge a smaller size.
          if (value < this.#tableSize) {
            this.#tableSize = 0;
            smallerTable = true;
          }
          break;
        case Setting.ENABLE_PUSH:
          if (value > 1) return { code: ErrorCode.PROTOCOL_ERROR, message: "ENABLE_PUSH is neither 0 nor 1" };
          break;
        case Setting.INITIAL_WINDOW_SIZE:
          if (value > MAX_WINDOW)
            return { code: ErrorCode.FLOW_CONTROL_ERROR, message: "INITIAL_WINDOW_SIZE exceeds 2^31-1" };
          window = value;
          break;
        case Setting.MAX_FRAME_SIZE:
          if (value < 16_384 || value > 16_777_215)
            return {
              code: ErrorCode.PROTOCOL_ERROR,
              message: "MAX_FRAME_SIZE is outside 16,384 to 16,777,215",
            };
          break;
      }
    }
    this.isSeen = true;
    // Changes the windows once per frame: for each of 2,730 values, 1,000 streams would cost milliseconds.
    this.streamWindow = window;
    return { window: window - before, smallerTable };
  }
}
