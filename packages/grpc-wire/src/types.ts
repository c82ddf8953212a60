/** The public types: what a handler gets, and the options of a server. */
import type { PeerCertificate, SecureContextOptions } from "node:tls";
import type { GrpcError, StatusCode } from "./status.ts";

/** The part that all kinds of calls share. Valid until the call is finished; do not keep it longer. */
export interface Call {
  /** The full method, `/package.Service/Method`. */
  readonly path: string;
  /** The caller's address: `127.0.0.1:54321`, `[::1]:54321`, or `unix:` for a unix socket. */
  readonly peer: string;
  /** The caller's deadline, in milliseconds since the Unix epoch; 0 when there is none. */
  readonly deadline: number;
  /** True once the caller cancelled, its deadline passed or its connection was lost: an answer would be dropped. */
  readonly cancelled: boolean;
  /** Aborts when `cancelled` turns true. Made on first use, so it costs nothing otherwise. */
  readonly signal: AbortSignal;
  /** The caller's certificate, where the connection is TLS and the caller showed one. */
  readonly peerCertificate: PeerCertificate | undefined;
  /** The first value of a request metadata key (lower case); of a `-bin` key, its base64 text. */
  metadata(name: string): string | undefined;
  /** The decoded bytes of the first value of a `-bin` key. */
  binaryMetadata(name: string): Uint8Array | undefined;
  /** All request metadata in order of arrival, without pseudo-headers and gRPC's own headers. */
  metadataEntries(): [name: string, value: string][];
  /**
   * Adds metadata to the response headers; before the first message only. A `-bin` key takes bytes, any
   * other printable ASCII. Throws a `TypeError` for an invalid name or value, and an `Error` when the headers
   * have been sent.
   */
  setInitialMetadata(name: string, value: string | Uint8Array): void;
  /** Adds metadata to the trailers, which carry the status. Same rules as `setInitialMetadata`. */
  setTrailingMetadata(name: string, value: string | Uint8Array): void;
}

/**
 * A unary call, read and answered in place.
 *
 * While the handler runs, `buffer[start..end)` is the request message inside the connection's read buffer:
 * copy the bytes that must outlive the handler. Write the answer straight into the output buffer
 * (`reserve`, write from `offset`, `commit`), or pass it to `finish`. A handler that returns without
 * having finished the call answers later, with the same methods. Each call is finished exactly once. Later
 * calls of these methods, and those after `cancelled`, do nothing.
 */
export interface UnaryCall extends Call {
  readonly buffer: Uint8Array;
  readonly start: number;
  readonly end: number;
  /**
   * When the connection was last read, in milliseconds since the Unix epoch. While the handler runs that is now, to
   * the few microseconds that a read's calls take, so a handler need not read the clock.
   */
  readonly readAt: number;
  /**
   * Room for an answer of at most `maxBytes`: returns the buffer to write into, from `offset` on. Valid until
   * `commit` or until the code returns to the event loop; a second `reserve` replaces the first.
   */
  reserve(maxBytes: number): Uint8Array;
  /** Where in the reserved buffer the answer starts. */
  readonly offset: number;
  /** Finishes the call with the `length` bytes written at `offset`. */
  commit(length: number): void;
  /** Finishes the call with a message; its bytes are copied before this returns. */
  finish(message: Uint8Array): void;
  /** Finishes the call with a status. Anything but a `GrpcError` becomes UNKNOWN without its text. */
  fail(error: GrpcError | unknown): void;
}

/** A call answered by any number of messages. */
export interface StreamingCall extends Call {
  /**
   * Sends one message; its bytes are copied before this returns. The promise resolves when the caller has
   * room for more: await it, and a slow reader slows the handler. Rejects with a `GrpcError` (CANCELLED or
   * DEADLINE_EXCEEDED) once the call is cancelled.
   */
  write(message: Uint8Array): Promise<void>;
}

/** Reads and answers in place; see `UnaryCall`. It may be an async function: when it rejects, its call fails. */
export type InPlaceUnaryHandler = (call: UnaryCall) => void;

/** Gets the request message (a copy, which the handler may keep) and returns the answer, at once or as a promise. */
export type UnaryHandler = (message: Uint8Array, call: Call) => Uint8Array | Promise<Uint8Array>;

/** Yields the messages of the answer, or writes them with `call.write`; the call ends when it returns. */
export type ServerStreamingHandler = (
  message: Uint8Array,
  call: StreamingCall,
) => AsyncIterable<Uint8Array> | Promise<void>;

/** As `ServerStreamingHandler`, with a stream of request messages; reading them slowly slows the caller. */
export type BidiStreamingHandler = (
  messages: AsyncIterable<Uint8Array>,
  call: StreamingCall,
) => AsyncIterable<Uint8Array> | Promise<void>;

/** Observes calls. A function that is not set costs nothing. */
export interface CallObserver {
  /** Called when a call's headers were accepted and its method is known. */
  callStarted?(path: string): void;
  /**
   * Calls ended: one, or as many as one read brought and one turn of the event loop answered alike, which took equally
   * long since their answers leave together. `path` is empty where their method is not known. `durationMs` runs from the read that brought their
   * headers to their status, with sub-millisecond digits.
   */
  callFinished?(path: string, status: StatusCode, durationMs: number, calls: number): void;
}

/** TLS settings. `key`, `cert` and `ca` are PEM texts or buffers, not paths. */
export interface TlsOptions {
  cert: string | Buffer;
  key: string | Buffer;
  /** The certificate authorities of client certificates. The system's authorities are then not trusted. */
  ca?: string | Buffer | (string | Buffer)[];
  /** Ask for a client certificate and refuse connections without a valid one. Default: false. */
  requestCert?: boolean;
  /** Checks a valid client certificate once more: false refuses the connection. */
  verifyPeer?: (certificate: PeerCertificate) => boolean;
  /** The oldest version of TLS that is served; of TLS 1.2 only suites with forward secrecy and authenticated encryption. Default: `TLSv1.2`. */
  minVersion?: "TLSv1.2" | "TLSv1.3";
}

/** The TLS settings that can be replaced while the server runs. */
export type SecureContext = Pick<SecureContextOptions, "cert" | "key" | "ca">;

/** A connection's own life. Times in milliseconds; 0 means never. */
export interface ConnectionOptions {
  /** Age at which a connection is asked to go, with a jitter of 10 % either way. Default: 0. */
  maxConnectionAgeMs?: number;
  /** How long calls in flight may run on after that. Default: 0, without limit. */
  maxConnectionAgeGraceMs?: number;
  /** How long a connection may stay without a call. Default: 0. */
  maxConnectionIdleMs?: number;
  /** A connection that was silent for this long is pinged. Default: 60 s. */
  keepaliveTimeMs?: number;
  /** How long a ping may stay unanswered before the connection is given up. Default: 20 s. */
  keepaliveTimeoutMs?: number;
  /** Pings that come closer together than this, with nothing of an answer sent between them, count as strikes. Default: 10 s. */
  minPingIntervalMs?: number;
  /** Strikes that are forgiven before GOAWAY with ENHANCE_YOUR_CALM. Default: 2. */
  maxPingStrikes?: number;
  /** Time for the TLS handshake and then for the HTTP/2 preface and first SETTINGS. Default: 10 s. */
  handshakeTimeoutMs?: number;
  /** How long bytes may wait for a caller that does not read them before its connection is given up. Default: 30 s. */
  sendTimeoutMs?: number;
  /** Time for a unary request to arrive whole, from its headers on. Default: 60 s. */
  requestTimeoutMs?: number;
}

/** Bounds on the memory and the work that a peer can cause. */
export interface LimitOptions {
  /** Largest request message, as sent and once inflated. Above: RESOURCE_EXHAUSTED. Default: 4 MiB. */
  maxRequestBytes?: number;
  /** Connections at once; further ones are closed at accept. Default: 65,536. */
  maxConnections?: number;
  /** Calls at once on one connection, those whose caller has left included. Default: 1,000. */
  maxConcurrentStreams?: number;
  /** Decoded size of a request's headers (RFC 9113 section 10.5.1). Above: RESOURCE_EXHAUSTED. Default: 16 KiB. */
  maxHeaderListBytes?: number;
  /** Encoded size of one header block over all its frames. Above: the connection ends. Default: 32 KiB. */
  maxHeaderBlockBytes?: number;
  /** CONTINUATION frames per header block. Above: the connection ends. Default: 16. */
  maxContinuationFrames?: number;
  /** Bytes of request messages held for one connection: unfinished, not read by their handler, not inflated yet. Default: 16 MiB, at least `maxRequestBytes`. */
  maxBufferedBytesPerConnection?: number;
  /** The same for the whole server. Default: 256 MiB. */
  maxBufferedBytes?: number;
  /** Bytes of answers that wait for a peer's window. Above: calls on that connection are reset, when they come, before their handler runs, and when they answer. Default: 16 MiB. */
  maxQueuedBytesPerConnection?: number;
  /** The same for the whole server; a connection on which nothing waits is served above it, too. Default: 256 MiB. */
  maxQueuedBytes?: number;
  /** Streams a peer may reset, or make the server reset, in a burst. Default: 1,000. */
  resetBurst?: number;
  /** How fast that allowance grows back, per second. Default: 500. */
  resetsPerSecond?: number;
  /** Frames that carry no work (SETTINGS, PRIORITY, empty DATA, frames on closed streams, unknown types, ...) in a burst, and likewise WINDOW_UPDATE. Default: 1,000. */
  idleFrameBurst?: number;
  /** How fast those two allowances grow back, per second. Each answered call gives one frame back, each DATA frame sent ten WINDOW_UPDATE. Default: 200. */
  idleFramesPerSecond?: number;
  /** Receive window of a stream, 65,535 to 2^31-1. Default: 256 KiB. */
  streamWindowBytes?: number;
  /** Receive window of a connection, 65,535 to 2^31-1. Default: 1 MiB. */
  connectionWindowBytes?: number;
}

export interface ServerOptions {
  tls?: TlsOptions;
  connection?: ConnectionOptions;
  limits?: LimitOptions;
  /**
   * When answers are gzipped: `mirror` where the request was, `accepted` where the caller accepts it, `none`
   * never. Only answers of `compressionThresholdBytes` or more. Default: `mirror`.
   */
  responseCompression?: "mirror" | "accepted" | "none";
  /** Answers below this size are never gzipped. Default: 1,024. */
  compressionThresholdBytes?: number;
  /** Content subtypes served besides plain `application/grpc`. Default: `["proto"]`. */
  contentSubtypes?: string[];
  observer?: CallObserver;
  /** Called with an error of a handler that is not a `GrpcError`; the caller sees only UNKNOWN. Default: none. */
  onHandlerError?: (error: unknown, path: string) => void;
  /**
   * Answers a unary call whose request message is above `maxRequestBytes`. Without an answer the call ends with
   * RESOURCE_EXHAUSTED. Default: none.
   */
  onOversizedMessage?: (path: string) => Uint8Array | undefined;
  /** Called when the server ends a connection because its peer broke the protocol or a limit. Default: none. */
  onConnectionError?: (reason: ConnectionErrorReason) => void;
  /**
   * Called with an error of a bound listener, for example when it cannot accept a connection because of too many open
   * files. The listener continues. Default: none.
   */
  onListenerError?: (error: Error) => void;
}

/** Why the server ended a connection: an HTTP/2 error code's name, and what was wrong in words. */
export interface ConnectionErrorReason {
  readonly peer: string;
  /** `PROTOCOL_ERROR`, `ENHANCE_YOUR_CALM`, ... (RFC 9113 section 7). */
  readonly code: string;
  readonly message: string;
}

/** Where to listen: a TCP port (0 picks a free one) on `host` (default `127.0.0.1`), or a unix socket's path, which may exist unless a process listens on it. */
export type ListenOptions =
  | { port: number; host?: string; reusePort?: boolean; backlog?: number }
  | { path: string };

/** The bound address. */
export type BoundAddress =
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | { readonly kind: "unix"; readonly path: string };

export interface DrainOptions {
  /** How long calls in flight may take before their connections are cut, in milliseconds. Default: 30 s. */
  timeoutMs?: number;
}

/** Counts since the start, and current values. */
export interface ServerCounts {
  /** Connections open now. */
  readonly connections: number;
  /** Calls whose handler has not finished. */
  readonly activeCalls: number;
  /** Connections accepted since the start. */
  readonly connectionsAccepted: number;
  /** Connections closed at accept because of `maxConnections`. */
  readonly connectionsRefused: number;
  /** Connections that the server ended for breaking the protocol or a limit. */
  readonly connectionErrors: number;
  /** Bytes of unfinished requests held now. */
  readonly bufferedBytes: number;
  /** Bytes of answers that wait for a peer's window now. */
  readonly queuedBytes: number;
}
