import { GrpcError, type GrpcServer, Status, type UnaryCall } from "@tollway/grpc-wire";
import { responseSize, writeResponse } from "../protocol/encode-response.ts";
import type { RateLimitResponse } from "../protocol/messages.ts";
import { SHOULD_RATE_LIMIT } from "../protocol/method.ts";
import type { Answering } from "./answering.ts";

/** Serves `ShouldRateLimit`: read in place, decided, written in place; no promise where the store answers at once. */
export function serveDecisions(server: GrpcServer, answering: Answering): void {
  server.unaryInPlace(SHOULD_RATE_LIMIT, (call) => {
    try {
      const answer = answering.decideMessage(call.buffer, call.start, call.end, call.deadline);
      if (answer instanceof Promise) void answerLater(call, answer, answering);
      else write(call, answer);
    } catch (error) {
      fail(call, error, answering);
    }
  });
}

async function answerLater(
  call: UnaryCall,
  answer: Promise<RateLimitResponse>,
  answering: Answering,
): Promise<void> {
  try {
    write(call, await answer);
  } catch (error) {
    fail(call, error, answering);
  }
}

function write(call: UnaryCall, response: RateLimitResponse): void {
  const size = responseSize(response);
  writeResponse(response, call.reserve(size), call.offset);
  call.commit(size);
}

function fail(call: UnaryCall, error: unknown, answering: Answering): void {
  const { reason, message } = answering.failureOf(error);
  call.fail(new GrpcError(Status[reason], message));
}
