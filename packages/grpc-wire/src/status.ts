/** gRPC status codes (grpc/doc/statuscodes.md). */
export const Status = {
  /** Not an error. A call that a handler answers has it. */
  OK: 0,
  /** The caller cancelled the call. */
  CANCELLED: 1,
  /** An error without a status of its own, such as an error that a handler throws. */
  UNKNOWN: 2,
  /** The request is wrong, whatever the state of the system. */
  INVALID_ARGUMENT: 3,
  /** The caller's deadline passed before the call ended. */
  DEADLINE_EXCEEDED: 4,
  /** The request names something that does not exist. */
  NOT_FOUND: 5,
  /** The request would create something that exists already. */
  ALREADY_EXISTS: 6,
  /** The caller is known, and may not do this. */
  PERMISSION_DENIED: 7,
  /** A limit is exhausted: a quota, or the size of a message. */
  RESOURCE_EXHAUSTED: 8,
  /** The system is not in the state that the request needs. The caller must change it before it tries again. */
  FAILED_PRECONDITION: 9,
  /** The call conflicted with another one. The caller may repeat the whole operation. */
  ABORTED: 10,
  /** The request goes beyond a valid range, such as the end of a file. */
  OUT_OF_RANGE: 11,
  /** The server has no such method, or does not support the operation. */
  UNIMPLEMENTED: 12,
  /** The server broke a rule of its own or of the protocol. */
  INTERNAL: 13,
  /** The service cannot answer now. The caller may repeat the call after a delay. */
  UNAVAILABLE: 14,
  /** Data is lost or damaged, and cannot be recovered. */
  DATA_LOSS: 15,
  /** The request has no valid credentials. */
  UNAUTHENTICATED: 16,
} as const;

/** A gRPC status code: 0 to 16. */
export type StatusCode = (typeof Status)[keyof typeof Status];

/**
 * Ends a call with a status other than OK: throw it in a handler, reject with it, or pass it to `call.fail`. The caller
 * receives the message, which may be any Unicode text.
 * @example
 * ```ts
 * import { GrpcError, GrpcServer, Status } from "@tollway/grpc-wire";
 *
 * new GrpcServer().unary("/demo.Greeter/Greet", (name) => {
 *   if (name.length === 0) throw new GrpcError(Status.INVALID_ARGUMENT, "the name is empty");
 *   return name;
 * });
 * ```
 */
export class GrpcError extends Error {
  /** The status that the caller gets. */
  readonly code: StatusCode;

  constructor(code: StatusCode, message: string) {
    super(message);
    this.name = "GrpcError";
    this.code = code;
  }
}
