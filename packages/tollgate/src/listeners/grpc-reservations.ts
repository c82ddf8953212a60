import { GrpcError, type GrpcServer, Status, type UnaryCall } from "@tollway/grpc-wire";
import {
  COMMIT_RESPONSE_BYTES,
  RESERVE_RESPONSE_BYTES,
  writeCommitResponse,
  writeReserveResponse,
} from "../protocol/encode-reservation.ts";
import { responseSize, writeResponse } from "../protocol/encode-response.ts";
import { Code, type RateLimitResponse } from "../protocol/messages.ts";
import { CHECK_RATE_LIMIT, COMMIT, REPORT, RESERVE } from "../protocol/method.ts";
import type { CommitResponse, ReserveResponse } from "../protocol/reservation-messages.ts";
import type { CallTime } from "../reservations/reservations.ts";
import type { RateLimitHandler } from "./rate-limit-handler.ts";
import type { MessagePlace, ReservationHandler } from "./reservation-handler.ts";

/** Serves `kuadrant.service.ratelimit.v1.RateLimitService`. */
export function serveReservations(
  server: GrpcServer,
  reservations: ReservationHandler,
  handler: RateLimitHandler,
): void {
  const refused: ReserveResponse = { code: Code.OVER_LIMIT, id: "", reserved: 0 };
  const serve = <Response>(
    path: string,
    ask: (place: MessagePlace, time: CallTime) => Response | Promise<Response>,
    write: (call: UnaryCall, response: Response) => void,
    denied?: (denial: RateLimitResponse) => Response,
  ) => {
    const fail = (call: UnaryCall, error: unknown) => {
      // Of a check or a reservation above a size limit, if the policy is to refuse it.
      const denial = denied && handler.denialOf(error);
      if (denied !== undefined && denial !== undefined) {
        write(call, denied(denial));
        return;
      }
      const { reason, message } = handler.failureOf(error);
      call.fail(new GrpcError(Status[reason], message));
    };
    server.unaryInPlace(path, (call) => {
      try {
        const answer = ask(call, { now: call.readAt, deadline: call.deadline });
        if (answer instanceof Promise)
          answer.then((response) => write(call, response)).catch((error: unknown) => fail(call, error));
        else write(call, answer);
      } catch (error) {
        fail(call, error);
      }
    });
  };
  serve(
    CHECK_RATE_LIMIT,
    (place, time) => reservations.check(place, time),
    writeDecision,
    (denial) => denial,
  );
  serve(REPORT, (place, time) => reservations.report(place, time), writeDecision);
  serve(
    RESERVE,
    (place, time) => reservations.reserve(place, time),
    writeReserve,
    () => refused,
  );
  serve(COMMIT, (place, time) => reservations.commit(place, time), writeCommit);
}

function writeDecision(call: UnaryCall, response: RateLimitResponse): void {
  const size = responseSize(response);
  writeResponse(response, call.reserve(size), call.offset);
  call.commit(size);
}

function writeReserve(call: UnaryCall, response: ReserveResponse): void {
  const bytes = call.reserve(RESERVE_RESPONSE_BYTES);
  call.commit(writeReserveResponse(response, bytes, call.offset) - call.offset);
}

function writeCommit(call: UnaryCall, response: CommitResponse): void {
  const bytes = call.reserve(COMMIT_RESPONSE_BYTES);
  call.commit(writeCommitResponse(response, bytes, call.offset) - call.offset);
}
