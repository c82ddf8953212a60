/** The dependencies of calls on their server and their connection. */
import type { ByteCount } from "../http2/byte-count.ts";
import type { CallObserver } from "../types.ts";
import type { BufferedBytes } from "./buffered-bytes.ts";
import type { EndedCalls } from "./ended-calls.ts";
import type { PendingCalls } from "./pending-calls.ts";
import type { Route } from "./route.ts";

export interface GrpcDependencies {
  readonly routes: ReadonlyMap<string, Route>;
  readonly subtypes: readonly string[];
  /** The response's content type for each subtype; 0 is plain. */
  readonly contentTypes: readonly string[];
  /** The response's HEADERS frame for each subtype, for stream 0. */
  readonly responseHeaders: readonly Uint8Array[];
  readonly responseCompression: "mirror" | "accepted" | "none";
  readonly compressionThresholdBytes: number;
  readonly maxRequestBytes: number;
  readonly maxBufferedBytesPerConnection: number;
  readonly maxBufferedBytes: number;
  readonly maxHeaderListBytes: number;
  /** Time limit for the arrival of a request with one message; 0 for no limit. */
  readonly requestTimeoutMs: number;
  readonly observer: CallObserver | undefined;
  readonly onHandlerError: ((error: unknown, path: string) => void) | undefined;
  /** Returns the response of a unary call with an oversized request message. */
  readonly onOversizedMessage: ((path: string) => Uint8Array | undefined) | undefined;
  readonly pending: PendingCalls;
  /** Held bytes of request messages on all connections. */
  readonly buffered: ByteCount;
}

/** The shared dependencies of the calls on one connection. */
export interface CallContext {
  readonly deps: GrpcDependencies;
  readonly buffered: BufferedBytes;
  /** Undefined without an observer of `callFinished`. */
  readonly ended: EndedCalls | undefined;
}
