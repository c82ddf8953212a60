import { GrpcError, type GrpcServer, Status, type UnaryCall } from "@tollway/grpc-wire";
import type { AnswerWaiter } from "../decision/pending-answer.ts";
import { PendingDecision } from "../decision/pending-decision.ts";
import type { Tracing } from "../observe/tracing/tracing.ts";
import { encodeResponse, maxResponseSize, writeResponse } from "../protocol/encode-response.ts";
import type { RateLimitResponse } from "../protocol/messages.ts";
import { SHOULD_RATE_LIMIT } from "../protocol/method.ts";
import { OversizedRequestError } from "../protocol/request-limits.ts";
import type { RateLimitHandler } from "./rate-limit-handler.ts";
import { TracedCall } from "./traced-call.ts";

const SPAN_NAME = SHOULD_RATE_LIMIT.slice(1);
const [service, method] = SPAN_NAME.split("/");
/** Names of the OpenTelemetry semantic conventions for RPC. */
const attributes = { "rpc.system": "grpc", "rpc.service": service!, "rpc.method": method! };

/** Serves `ShouldRateLimit`. Reads and writes messages in place, and without promises. */
export function serveDecisions(server: GrpcServer, handler: RateLimitHandler, tracing: Tracing): void {
  server.unaryInPlace(SHOULD_RATE_LIMIT, (call) => {
    if (tracing.enabled) {
      const traced = TracedCall.begin(tracing, SPAN_NAME, (name) => call.metadata(name), attributes);
      if (traced !== undefined) {
        void answerTraced(call, traced, handler);
        return;
      }
    }
    try {
      const answer = handler.decideMessage(call.buffer, call.start, call.end, call.readAt, call.deadline);
      if (answer instanceof PendingDecision) answer.tell(new LaterAnswer(call, handler));
      else write(call, answer);
    } catch (error) {
      fail(call, error, handler);
    }
  });
}

/** Answers a call whose store answers later. */
class LaterAnswer implements AnswerWaiter<RateLimitResponse> {
  readonly #call: UnaryCall;
  readonly #handler: RateLimitHandler;

  constructor(call: UnaryCall, handler: RateLimitHandler) {
    this.#call = call;
    this.#handler = handler;
  }

  answered(response: RateLimitResponse): void {
    write(this.#call, response);
  }

  failed(error: unknown): void {
    fail(this.#call, error, this.#handler);
  }
}

async function answerTraced(call: UnaryCall, traced: TracedCall, handler: RateLimitHandler): Promise<void> {
  try {
    const request = handler.decodeMessage(call.buffer, call.start, call.end);
    write(call, await traced.decide(handler, request, call.deadline));
    traced.end({ "rpc.grpc.status_code": Status.OK });
  } catch (error) {
    const status = fail(call, error, handler);
    traced.end({ "rpc.grpc.status_code": status?.code ?? Status.OK }, status?.message);
  }
}

/** The response to a call whose message is too large; undefined if the call ends with an error. */
export function answerOversized(handler: RateLimitHandler): Uint8Array | undefined {
  const error = new OversizedRequestError("the message is too large");
  const denial = handler.denialOf(error);
  if (denial === undefined) return undefined;
  return encodeResponse(denial);
}

function write(call: UnaryCall, response: RateLimitResponse): void {
  const buffer = call.reserve(maxResponseSize(response));
  call.commit(writeResponse(response, buffer, call.offset) - call.offset);
}

/** Ends the call with a status, and returns it. Undefined if the policy answers with a denial instead. */
function fail(call: UnaryCall, error: unknown, handler: RateLimitHandler): GrpcError | undefined {
  const denial = handler.denialOf(error);
  if (denial !== undefined) {
    write(call, denial);
    return undefined;
  }
  const { reason, message } = handler.failureOf(error);
  const status = new GrpcError(Status[reason], message);
  call.fail(status);
  return status;
}
