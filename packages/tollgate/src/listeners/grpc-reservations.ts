import { GrpcError, type GrpcServer, Status, type UnaryCall } from "@tollway/grpc-wire";
import { type AnswerWaiter, PendingAnswer, promiseOf } from "../decision/pending-answer.ts";
import type { Tracing } from "../observe/tracing/tracing.ts";
import {
  COMMIT_RESPONSE_BYTES,
  RESERVE_RESPONSE_BYTES,
  writeCommitResponse,
  writeReserveResponse,
} from "../protocol/encode-reservation.ts";
import { maxResponseSize, writeResponse } from "../protocol/encode-response.ts";
import { Code, type RateLimitResponse } from "../protocol/messages.ts";
import { CHECK_RATE_LIMIT, COMMIT, REPORT, RESERVE } from "../protocol/method.ts";
import type { CommitResponse, ReserveResponse } from "../protocol/reservation-messages.ts";
import type { Answer, CallTime } from "../reservations/reservations.ts";
import type { RateLimitHandler } from "./rate-limit-handler.ts";
import type { MessagePlace, ReservationHandler, Seen } from "./reservation-handler.ts";
import { type ReservationSpan, reservationSpans } from "./reservation-spans.ts";
import { TracedCall } from "./traced-call.ts";

/** One method of the service. */
interface Method<Response> {
  readonly path: string;
  readonly span: ReservationSpan<Response>;
  ask(place: MessagePlace, time: CallTime, seen?: Seen): Answer<Response>;
  write(call: UnaryCall, response: Response): void;
  /** The response to a call above a size limit, if it is refused. */
  denied?(denial: RateLimitResponse): Response;
}

/** Ends the calls of one method. */
interface Ends<Response> {
  readonly write: (call: UnaryCall, response: Response) => void;
  readonly fail: (call: UnaryCall, error: unknown) => void;
}

/** Answers a call whose store answers later. */
class LaterAnswer<Response> implements AnswerWaiter<Response> {
  readonly #call: UnaryCall;
  readonly #ends: Ends<Response>;

  constructor(call: UnaryCall, ends: Ends<Response>) {
    this.#call = call;
    this.#ends = ends;
  }

  answered(response: Response): void {
    this.#ends.write(this.#call, response);
  }

  failed(error: unknown): void {
    this.#ends.fail(this.#call, error);
  }
}

const refused: ReserveResponse = { code: Code.OVER_LIMIT, id: undefined, reserved: 0 };

/** Serves `kuadrant.service.ratelimit.v1.RateLimitService`. */
export function serveReservations(
  server: GrpcServer,
  reservations: ReservationHandler,
  handler: RateLimitHandler,
  tracing: Tracing,
): void {
  serve(server, handler, tracing, {
    path: CHECK_RATE_LIMIT,
    span: reservationSpans.check,
    ask: (place, time, seen) => reservations.check(place, time, seen),
    write: writeDecision,
    denied: (denial) => denial,
  });
  serve(server, handler, tracing, {
    path: REPORT,
    span: reservationSpans.report,
    ask: (place, time, seen) => reservations.report(place, time, seen),
    write: writeDecision,
  });
  serve(server, handler, tracing, {
    path: RESERVE,
    span: reservationSpans.reserve,
    ask: (place, time, seen) => reservations.reserve(place, time, seen),
    write: writeReserve,
    denied: () => refused,
  });
  serve(server, handler, tracing, {
    path: COMMIT,
    span: reservationSpans.commit,
    ask: (place, time, seen) => reservations.commit(place, time, seen),
    write: writeCommit,
  });
}

function serve<Response>(
  server: GrpcServer,
  handler: RateLimitHandler,
  tracing: Tracing,
  { path, span, ask, write, denied }: Method<Response>,
): void {
  /** Returns the status; undefined if the policy answers with a denial instead. */
  const fail = (call: UnaryCall, error: unknown): GrpcError | undefined => {
    // Of a check or a reservation above a size limit, if the policy is to refuse it.
    const denial = denied && handler.denialOf(error);
    if (denied !== undefined && denial !== undefined) {
      write(call, denied(denial));
      return undefined;
    }
    const { reason, message } = handler.failureOf(error);
    const status = new GrpcError(Status[reason], message);
    call.fail(status);
    return status;
  };
  const spanName = path.slice(1);
  const [service, method] = spanName.split("/");
  const attributes = { "rpc.system": "grpc", "rpc.service": service!, "rpc.method": method! };
  const answerTraced = async (call: UnaryCall, traced: TracedCall) => {
    const time = { now: call.readAt, deadline: call.deadline };
    try {
      await traced.reserve(
        span,
        (seen) => promiseOf(ask(call, time, seen)),
        (answer) => write(call, answer),
      );
      traced.end({ "rpc.grpc.status_code": Status.OK });
    } catch (error) {
      const status = fail(call, error);
      traced.end({ "rpc.grpc.status_code": status?.code ?? Status.OK }, status?.message);
    }
  };
  const ends = { write, fail };
  server.unaryInPlace(path, (call) => {
    if (tracing.enabled) {
      const traced = TracedCall.begin(tracing, spanName, (name) => call.metadata(name), attributes);
      if (traced !== undefined) {
        void answerTraced(call, traced);
        return;
      }
    }
    try {
      const answer = ask(call, { now: call.readAt, deadline: call.deadline });
      if (answer instanceof PendingAnswer) answer.tell(new LaterAnswer(call, ends));
      else write(call, answer);
    } catch (error) {
      fail(call, error);
    }
  });
}

function writeDecision(call: UnaryCall, response: RateLimitResponse): void {
  const bytes = call.reserve(maxResponseSize(response));
  call.commit(writeResponse(response, bytes, call.offset) - call.offset);
}

function writeReserve(call: UnaryCall, response: ReserveResponse): void {
  const bytes = call.reserve(RESERVE_RESPONSE_BYTES);
  call.commit(writeReserveResponse(response, bytes, call.offset) - call.offset);
}

function writeCommit(call: UnaryCall, response: CommitResponse): void {
  const bytes = call.reserve(COMMIT_RESPONSE_BYTES);
  call.commit(writeCommitResponse(response, bytes, call.offset) - call.offset);
}
