/** What a connection needs of its server. */
import type {
  BidiStreamingHandler,
  CallObserver,
  ConnectionErrorReason,
  ConnectionOptions,
  InPlaceUnaryHandler,
  LimitOptions,
  ServerStreamingHandler,
} from "../types.ts";
import type { Connection } from "./connection.ts";
import type { DeadlineWheel } from "./deadlines.ts";

/** A registered method. */
export type Route =
  | { readonly path: string; readonly kind: "unary"; readonly handler: InPlaceUnaryHandler }
  | { readonly path: string; readonly kind: "serverStreaming"; readonly handler: ServerStreamingHandler }
  | { readonly path: string; readonly kind: "bidiStreaming"; readonly handler: BidiStreamingHandler }
  /** Not registered: a call to an unknown method, or a request that is no call. */
  | { readonly path: ""; readonly kind: "none" };

export interface Host {
  readonly limits: Required<LimitOptions>;
  readonly times: Required<ConnectionOptions>;
  readonly routes: ReadonlyMap<string, Route>;
  readonly subtypes: readonly string[];
  /** Per subtype (0: plain) the response's content type, and its whole HEADERS frame for stream 0. */
  readonly contentTypes: readonly string[];
  readonly responseHeaders: readonly Uint8Array[];
  readonly responseCompression: "mirror" | "accepted" | "none";
  readonly compressionThresholdBytes: number;
  readonly observer: CallObserver | undefined;
  readonly onHandlerError: ((error: unknown, path: string) => void) | undefined;
  readonly onOversizedMessage: ((path: string) => Uint8Array | undefined) | undefined;
  readonly onConnectionError: ((reason: ConnectionErrorReason) => void) | undefined;
  /** The monotonic clock of all limits and timeouts, in milliseconds. The wall clock may step. */
  readonly clock: () => number;
  readonly deadlines: DeadlineWheel;
  /** Bytes of unfinished request messages over all connections. */
  bufferedBytes: number;
  /** Bytes of answers that wait for a window, over all connections. */
  queuedBytes: number;
  /** Calls whose handler has not finished. */
  activeCalls: number;
  connectionErrors: number;
  onConnectionClosed(connection: Connection): void;
}
