/** The public types: calls, handlers, and the options of a server. */
import type { PeerCertificate, SecureContextOptions } from "node:tls";
import type { GrpcError, StatusCode } from "./status.ts";

/** The common part of all kinds of calls. It is valid until the call is finished. */
export interface Call {
  /** The full method, `/package.Service/Method`. */
  readonly path: string;
  /** The caller's address: `127.0.0.1:54321`, `[::1]:54321`, or `unix:` for a unix socket. */
  readonly peer: string;
  /** The caller's deadline, in milliseconds since the Unix epoch; 0 without a deadline. */
  readonly deadline: number;
  /** True after the caller cancelled, its deadline passed, or its connection was lost. The server then drops a response. */
  readonly cancelled: boolean;
  /** Aborts when `cancelled` becomes true. The first use creates it. */
  readonly signal: AbortSignal;
  /** The certificate that the caller presented over TLS. */
  readonly peerCertificate: PeerCertificate | undefined;
  /** Returns the first value of a request metadata key in lower case. For a `-bin` key, returns the base64 text. */
  metadata(name: string): string | undefined;
  /** Returns the decoded bytes of the first value of a `-bin` key. */
  binaryMetadata(name: string): Uint8Array | undefined;
  /** Returns all request metadata in order of arrival, without pseudo-header fields and headers of HTTP/2 and gRPC. */
  metadataEntries(): [name: string, value: string][];
  /**
   * Adds metadata to the response headers. Call it before the first message. A `-bin` key takes bytes, other keys take
   * printable ASCII. Throws a `TypeError` for an invalid name or value, and an `Error` when the headers have been sent.
   */
  setInitialMetadata(name: string, value: string | Uint8Array): void;
  /** Adds metadata to the trailers, which also contain the status. The rules of `setInitialMetadata` apply. */
  setTrailingMetadata(name: string, value: string | Uint8Array): void;
}

/**
 * A unary call whose handler reads the request and writes the response in place.
 *
 * While the handler runs, `buffer[start..end)` is the request message inside the connection's read buffer. Copy the bytes
 * that you need later. Write the response directly into the output buffer (`reserve`, write from `offset`, `commit`), or
 * pass it to `finish`. A handler may also return first and finish the call later, with the same methods. A call finishes
 * once: further calls of these methods, and calls after `cancelled`, do nothing.
 */
export interface UnaryCall extends Call {
  /** The connection's read buffer, which contains the message. Valid only while the handler runs. */
  readonly buffer: Uint8Array;
  /** Position of the first byte of the message in `buffer`. */
  readonly start: number;
  /** Position after the last byte of the message in `buffer`. */
  readonly end: number;
  /**
   * The time of the connection's last read, in milliseconds since the Unix epoch. During the handler's synchronous part it
   * is a few microseconds old at most, so a handler can use it instead of the clock.
   */
  readonly readAt: number;
  /**
   * Makes room for a response of at most `maxBytes`. Returns the buffer for the response, which begins at `offset`. The
   * buffer is valid until `commit` or the return to the event loop. A second `reserve` replaces the first.
   */
  reserve(maxBytes: number): Uint8Array;
  /** The position of the response in the reserved buffer. */
  readonly offset: number;
  /** Finishes the call with the `length` bytes written at `offset`. */
  commit(length: number): void;
  /** Finishes the call with a message. Copies its bytes before it returns. */
  finish(message: Uint8Array): void;
  /** Finishes the call with the status of a `GrpcError`. Any other error becomes UNKNOWN, without its message. */
  fail(error: GrpcError | unknown): void;
}

/** A call with any number of response messages. */
export interface StreamingCall extends Call {
  /**
   * Sends one message. Copies its bytes before it returns. The promise resolves when there is room for more: a handler that
   * awaits it is as slow as its reader. Rejects with a `GrpcError` (CANCELLED or DEADLINE_EXCEEDED) when the call is
   * cancelled.
   */
  write(message: Uint8Array): Promise<void>;
}

/** Reads the request and writes the response in place; see `UnaryCall`. If it is async and rejects, the call fails. */
export type InPlaceUnaryHandler = (call: UnaryCall) => void;

/** Receives a copy of the request message. Returns the response or a promise of it. */
export type UnaryHandler = (message: Uint8Array, call: Call) => Uint8Array | Promise<Uint8Array>;

/** Yields the messages of the response, or writes them with `call.write`. The call ends when the handler ends. */
export type ServerStreamingHandler = (
  message: Uint8Array,
  call: StreamingCall,
) => AsyncIterable<Uint8Array> | Promise<void>;

/** A `ServerStreamingHandler` with a stream of request messages. Backpressure of a slow handler reaches the caller. */
export type BidiStreamingHandler = (
  messages: AsyncIterable<Uint8Array>,
  call: StreamingCall,
) => AsyncIterable<Uint8Array> | Promise<void>;

/** Observes calls. Absent functions cost nothing. */
export interface CallObserver {
  /** Called when the headers of a call to a known method have arrived. */
  callStarted?(path: string): void;
  /**
   * Called when calls have ended. Calls of one method from one read that end in the same turn with the same status are
   * reported together. `path` is empty for an unknown method. `durationMs` is the time from the read of the headers to the
   * status, with fractions.
   */
  callFinished?(path: string, status: StatusCode, durationMs: number, calls: number): void;
}

/** TLS settings. `key`, `cert` and `ca` are PEM texts or buffers, not paths. */
export interface TlsOptions {
  /** The server's certificate, with its chain. */
  cert: string | Buffer;
  /** The private key of the certificate. */
  key: string | Buffer;
  /** The certificate authorities of client certificates. The system's authorities are then not trusted. */
  ca?: string | Buffer | (string | Buffer)[];
  /** Ask for a client certificate and refuse connections without a valid one. Default: false. */
  requestCert?: boolean;
  /** An additional check of a valid client certificate. False refuses the connection. */
  verifyPeer?: (certificate: PeerCertificate) => boolean;
  /** The minimum TLS version. TLS 1.2 allows only cipher suites with forward secrecy and authenticated encryption. Default: `TLSv1.2`. */
  minVersion?: "TLSv1.2" | "TLSv1.3";
}

/** The TLS settings that can be replaced while the server runs. */
export type SecureContext = Pick<SecureContextOptions, "cert" | "key" | "ca">;

/** The time limits of a connection, in milliseconds; 0 means never. */
export interface ConnectionOptions {
  /** The age at which the server starts a graceful shutdown of a connection, with a jitter of ±10 %. Default: 0. */
  maxConnectionAgeMs?: number;
  /** Time limit for the calls in flight after that. Default: 0, without limit. */
  maxConnectionAgeGraceMs?: number;
  /** Time limit for a connection without calls. Default: 0. */
  maxConnectionIdleMs?: number;
  /** The server pings a connection that was silent for this time. Default: 60 s. */
  keepaliveTimeMs?: number;
  /** Time limit for the response to a ping. Then the server closes the connection. Default: 20 s. */
  keepaliveTimeoutMs?: number;
  /** The minimum time between a peer's pings. An earlier ping counts as a strike if the server sent no part of a response since the last one. Default: 10 s. */
  minPingIntervalMs?: number;
  /** The number of tolerated strikes. The next strike ends the connection with ENHANCE_YOUR_CALM. Default: 2. */
  maxPingStrikes?: number;
  /** Time limit for the TLS handshake, and then for the HTTP/2 preface and the first SETTINGS. Default: 10 s. */
  handshakeTimeoutMs?: number;
  /** Time limit for unsent bytes of a caller that does not read. Then the server closes the connection. Default: 30 s. */
  sendTimeoutMs?: number;
  /** Time limit for the arrival of a request with one message, from its headers on. Default: 60 s. */
  requestTimeoutMs?: number;
}

/** Bounds on the memory and the work that a peer can cause. */
export interface LimitOptions {
  /** The maximum size of a request message, as sent and decompressed. Above: RESOURCE_EXHAUSTED. Default: 4 MiB. */
  maxRequestBytes?: number;
  /** The maximum number of open connections. The server closes further ones at accept. Default: 65,536. */
  maxConnections?: number;
  /** The maximum number of running calls on one connection, including cancelled calls with a running handler. Default: 1,000. */
  maxConcurrentStreams?: number;
  /** The maximum decoded size of a request's headers (RFC 9113 section 10.5.1). Above: RESOURCE_EXHAUSTED. Default: 16 KiB. */
  maxHeaderListBytes?: number;
  /** The maximum encoded size of a header block, over all its frames. Above: the connection ends. Default: 32 KiB. */
  maxHeaderBlockBytes?: number;
  /** The maximum number of CONTINUATION frames per header block. Above: the connection ends. Default: 16. */
  maxContinuationFrames?: number;
  /** The maximum bytes of held request messages on one connection: incomplete, not yet read by their handler, or not yet decompressed. Above: RESOURCE_EXHAUSTED. Default: 16 MiB, at least `maxRequestBytes`. */
  maxBufferedBytesPerConnection?: number;
  /** The same limit for the whole server. Default: 256 MiB. */
  maxBufferedBytes?: number;
  /** The maximum queued bytes of responses on one connection. Above: the server resets the connection's calls, before their handler runs and when they respond. Default: 16 MiB. */
  maxQueuedBytesPerConnection?: number;
  /** The same limit for the whole server. It does not affect connections without queued bytes. Default: 256 MiB. */
  maxQueuedBytes?: number;
  /** The maximum number of streams in a burst that a peer resets, or that the server resets because of the peer. Default: 1,000. */
  resetBurst?: number;
  /** The refill rate of that burst, per second. Default: 500. */
  resetsPerSecond?: number;
  /** The maximum number of frames without work in a burst (SETTINGS, PRIORITY, empty DATA, frames on closed streams, unknown types), and separately of WINDOW_UPDATE frames. Default: 1,000. */
  idleFrameBurst?: number;
  /** The refill rate of those two bursts, per second. Each completed call also refills one frame, and each sent DATA frame ten WINDOW_UPDATE frames. Default: 200. */
  idleFramesPerSecond?: number;
  /** The receive window of a stream, 65,535 to 2^31-1. Default: 256 KiB. */
  streamWindowBytes?: number;
  /** The receive window of a connection, 65,535 to 2^31-1. Default: 1 MiB. */
  connectionWindowBytes?: number;
}

/** Options of a `GrpcServer`. All are optional. The constructor throws an `OptionError` for an invalid one. */
export interface ServerOptions {
  /** Certificates and checks of TLS. Default: cleartext. */
  tls?: TlsOptions;
  /** Time limits of connections; see below. */
  connection?: ConnectionOptions;
  /** Bounds on memory and work; see below. */
  limits?: LimitOptions;
  /**
   * The use of gzip for response messages of at least `compressionThresholdBytes`. `mirror` compresses if the request uses
   * gzip, `accepted` if the caller accepts gzip. `none` never compresses. Default: `mirror`.
   */
  responseCompression?: "mirror" | "accepted" | "none";
  /** The minimum size of a compressed response message. Default: 1,024. */
  compressionThresholdBytes?: number;
  /** The supported content subtypes, besides plain `application/grpc`. Default: `["proto"]`. */
  contentSubtypes?: string[];
  /** Functions that see the start and the end of calls, for metrics. Default: none. */
  observer?: CallObserver;
  /** Called with each error of a handler that is not a `GrpcError`. The caller receives UNKNOWN without its message. Default: none. */
  onHandlerError?: (error: unknown, path: string) => void;
  /**
   * Returns the response of a unary call whose request message exceeds `maxRequestBytes`. Without a response, the call ends
   * with RESOURCE_EXHAUSTED. Default: none.
   */
  onOversizedMessage?: (path: string) => Uint8Array | undefined;
  /** Called when the server ends a connection because its peer violated the protocol or a limit. Default: none. */
  onConnectionError?: (reason: ConnectionErrorReason) => void;
  /** Called for each caller that TLS refuses: its certificate, its protocol or its handshake. Default: none. */
  onRefusedPeer?: (refused: RefusedPeer) => void;
  /**
   * Called with an error of a bound listener, for example when it cannot accept a connection because of too many open
   * files. The listener continues. Default: none.
   */
  onListenerError?: (error: Error) => void;
}

/** A caller that TLS refused. */
export interface RefusedPeer {
  /** Its address and port. */
  readonly peer: string;
  /** The reason of TLS for the refusal, in words of Node or OpenSSL. */
  readonly reason: string;
  /** The subject of its certificate, `CN=gateway, O=example`; undefined if it presented none. The caller chose the text. */
  readonly subject: string | undefined;
}

/** The reason why the server ended a connection: the name of an HTTP/2 error code, and a description. */
export interface ConnectionErrorReason {
  /** The caller's address and port, or `unix:`. */
  readonly peer: string;
  /** `PROTOCOL_ERROR`, `ENHANCE_YOUR_CALM`, ... (RFC 9113 section 7). */
  readonly code: string;
  /** The peer's violation, with the limit that it exceeded. */
  readonly message: string;
}

/**
 * The address of a listener: a TCP port (0 for a free port) on `host` (default `127.0.0.1`), or the path of a unix socket.
 * The path may exist if no process listens on it. `mode` sets its permissions.
 */
export type ListenOptions =
  | { port: number; host?: string; reusePort?: boolean; backlog?: number }
  | { path: string; mode?: number };

/** The bound address. */
export type BoundAddress =
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | { readonly kind: "unix"; readonly path: string };

/** Options of `GrpcServer.drain`. */
export interface DrainOptions {
  /** Time limit for the calls in flight, in milliseconds. Then the server closes their connections. Default: 30 s. */
  timeoutMs?: number;
}

/** Counts since the start, and current values. */
export interface ServerCounts {
  /** Open connections. */
  readonly connections: number;
  /** Calls without a final status. */
  readonly activeCalls: number;
  /** Connections accepted since the start. */
  readonly connectionsAccepted: number;
  /** Connections closed at accept because of `maxConnections`. */
  readonly connectionsRefused: number;
  /** Connections that the server ended because their peer violated the protocol or a limit. */
  readonly connectionErrors: number;
  /** Held bytes of request messages. */
  readonly bufferedBytes: number;
  /** Queued bytes of responses. */
  readonly queuedBytes: number;
}
