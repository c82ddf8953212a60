/** How a call ends with an error. */
import { OversizedMessage } from "../grpc/oversized.ts";
import type { GrpcError, StatusCode } from "../grpc/status.ts";
import { finishUnary, finishWithStatus } from "./responses.ts";
import type { Stream } from "./stream.ts";

/** Ends the call with the error's status; the server may have an answer for a message that is too large. */
export function finishWithError(stream: Stream, error: GrpcError): void {
  const answer = error instanceof OversizedMessage ? oversizedAnswer(stream) : undefined;
  if (answer === undefined) finishWithStatus(stream, error.code as StatusCode, error.message);
  else finishUnary(stream, answer);
}

function oversizedAnswer({ route, connection: { host }, path }: Stream): Uint8Array | undefined {
  if (route.kind !== "unary" || host.onOversizedMessage === undefined) return undefined;
  try {
    return host.onOversizedMessage(path);
  } catch (error) {
    host.onHandlerError?.(error, path);
    return undefined;
  }
}
