/** What calls need of their server and of their connection. */
import type { ByteCount } from "../http2/byte-count.ts";
import type { CallObserver } from "../types.ts";
import type { BufferedBytes } from "./buffered-bytes.ts";
import type { EndedCalls } from "./ended-calls.ts";
import type { PendingCalls } from "./pending-calls.ts";
import type { Route } from "./route.ts";

export interface GrpcDependencies {
  readonly routes: ReadonlyMap<string, Route>;
  readonly subtypes: readonly string[];
  /** For each subtype (0: plain) the response's content type, and its whole HEADERS frame for stream 0. */
  readonly contentTypes: readonly string[];
  readonly responseHeaders: readonly Uint8Array[];
  readonly responseCompression: "mirror" | "accepted" | "none";
  readonly compressionThresholdBytes: number;
  readonly maxRequestBytes: number;
  readonly maxBufferedBytesPerConnection: number;
  readonly maxBufferedBytes: number;
  readonly maxHeaderListBytes: number;
  /** Time for a request of one message to arrive whole; 0 for no limit. */
  readonly requestTimeoutMs: number;
  /** Monotonic, in milliseconds. */
  readonly clock: () => number;
  readonly observer: CallObserver | undefined;
  readonly onHandlerError: ((error: unknown, path: string) => void) | undefined;
  /** Answers a unary call whose request message is too large. */
  readonly onOversizedMessage: ((path: string) => Uint8Array | undefined) | undefined;
  readonly pending: PendingCalls;
  /** Bytes of request messages held, over all connections. */
  readonly buffered: ByteCount;
}

/** What the calls of one connection share. */
export interface CallContext {
  readonly deps: GrpcDependencies;
  readonly buffered: BufferedBytes;
  /** Undefined without an observer of `callFinished`. */
  readonly ended: EndedCalls | undefined;
}
