/** A unary-first gRPC server with its own implementation of HTTP/2. */

export { TLS_CIPHER_SUITES } from "./listen/secure-context.ts";
export { OptionError } from "./options.ts";
export { GrpcServer } from "./server.ts";
export { HealthService, type HealthStatus } from "./services/health.ts";
export { ReflectionService } from "./services/reflection.ts";
export { GrpcError, Status, type StatusCode } from "./status.ts";
export type {
  BidiStreamingHandler,
  BoundAddress,
  Call,
  CallObserver,
  ConnectionErrorReason,
  ConnectionOptions,
  DrainOptions,
  InPlaceUnaryHandler,
  LimitOptions,
  ListenOptions,
  RefusedPeer,
  SecureContext,
  ServerCounts,
  ServerOptions,
  ServerStreamingHandler,
  StreamingCall,
  TlsOptions,
  UnaryCall,
  UnaryHandler,
} from "./types.ts";
