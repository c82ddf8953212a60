/** The options and dependencies of an HTTP/2 connection. */
import type { ErrorCode } from "../frames/constants.ts";
import type { ByteCount } from "./byte-count.ts";

/** The limits of this layer; `LimitOptions` documents them. */
export interface Http2Limits {
  readonly maxConcurrentStreams: number;
  readonly maxHeaderListBytes: number;
  readonly maxHeaderBlockBytes: number;
  readonly maxContinuationFrames: number;
  readonly maxQueuedBytesPerConnection: number;
  readonly maxQueuedBytes: number;
  readonly resetBurst: number;
  readonly resetsPerSecond: number;
  readonly idleFrameBurst: number;
  readonly idleFramesPerSecond: number;
  readonly streamWindowBytes: number;
  readonly connectionWindowBytes: number;
}

/** The times of this layer; `ConnectionOptions` documents them. */
export interface Http2Times {
  readonly maxConnectionAgeMs: number;
  readonly maxConnectionAgeGraceMs: number;
  readonly maxConnectionIdleMs: number;
  readonly keepaliveTimeMs: number;
  readonly keepaliveTimeoutMs: number;
  readonly minPingIntervalMs: number;
  readonly maxPingStrikes: number;
  readonly handshakeTimeoutMs: number;
  readonly sendTimeoutMs: number;
  readonly requestTimeoutMs: number;
}

export interface Http2Dependencies {
  readonly limits: Http2Limits;
  readonly times: Http2Times;
  /** Queued bytes of responses on all connections. */
  readonly queued: ByteCount;
  /** Called with an error in the server or in an observer. */
  readonly onFault: (error: unknown) => void;
  /** Called when the server ends a connection because its peer violated the protocol or a limit. */
  readonly onConnectionError: (peer: string, code: ErrorCode, message: string) => void;
}
