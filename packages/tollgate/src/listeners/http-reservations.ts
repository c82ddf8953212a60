import { Controller, HttpError } from "@tollway/waymark";
import type { Tracing } from "../observe/tracing/tracing.ts";
import { commitToJson, reserveToJson } from "../protocol/json-reservation.ts";
import { responseToJson } from "../protocol/json-response.ts";
import { Code, type JsonObject, type RateLimitResponse } from "../protocol/messages.ts";
import { OversizedRequestError } from "../protocol/request-limits.ts";
import type { CommitResponse, ReserveResponse } from "../protocol/reservation-messages.ts";
import { ReservationError } from "../reservations/reservation-error.ts";
import type { ControllerTable } from "./http-listener.ts";
import { httpErrorOf } from "./http-pages.ts";
import type { RateLimitHandler } from "./rate-limit-handler.ts";
import type { ReservationHandler, Seen } from "./reservation-handler.ts";
import { type ReservationSpan, reservationSpans } from "./reservation-spans.ts";
import { TracedCall } from "./traced-call.ts";

const TOO_MANY_REQUESTS = 429;

/** `POST /v1/check`, `/v1/report`, `/v1/reserve` and `/v1/commit`: the reservation service in JSON. */
export function reservationPages(
  reservations: ReservationHandler,
  handler: RateLimitHandler,
  tracing: Tracing,
): ControllerTable {
  class Call extends Controller {
    static override private = true;
    static override bodyLimit = handler.maxRequestBytes;

    /** Runs a call, and converts its errors. */
    protected async run<Answer>(path: string, method: Method<Answer>): Promise<JsonObject> {
      const attributes = { "http.request.method": "POST", "http.route": path };
      const header = (name: string) => this.headers.get(name) ?? undefined;
      const traced = TracedCall.begin(tracing, `POST ${path}`, header, attributes);
      let answer: JsonObject;
      try {
        answer = await this.#ask(method, await this.#read(), traced);
      } catch (error) {
        if (method.denied === undefined || handler.denialOf(error) === undefined) {
          const failure = httpErrorFor(error, handler);
          traced?.end({ "http.response.status_code": failure.status }, failure.message);
          throw failure;
        }
        this.response.status = TOO_MANY_REQUESTS;
        answer = method.denied;
      }
      traced?.end({ "http.response.status_code": this.response.status ?? 200 });
      return answer;
    }

    #ask<Answer>(
      { span, ask, toJson, isRefused }: Method<Answer>,
      bytes: Uint8Array,
      traced: TracedCall | undefined,
    ): JsonObject | Promise<JsonObject> {
      const read = (answer: Answer) => {
        if (isRefused?.(answer)) this.response.status = TOO_MANY_REQUESTS;
        return toJson(answer);
      };
      if (traced !== undefined) return traced.reserve(span, (seen) => ask(bytes, seen), read);
      const answer = ask(bytes);
      // A response that is not a promise must be read at once: the next call may reuse it.
      return answer instanceof Promise ? answer.then(read) : read(answer);
    }

    async #read(): Promise<Uint8Array> {
      try {
        return await this.bytes();
      } catch (error) {
        if (HttpError.is(error) && error.status === 413) throw new OversizedRequestError(error.message);
        throw error;
      }
    }
  }

  const check: Method<RateLimitResponse> = {
    span: reservationSpans.check,
    ask: (bytes, seen) => reservations.checkJson(bytes, seen),
    toJson: responseToJson,
    isRefused: ({ overallCode }) => overallCode === Code.OVER_LIMIT,
    denied: { overallCode: "OVER_LIMIT" },
  };
  const report: Method<RateLimitResponse> = {
    span: reservationSpans.report,
    ask: (bytes, seen) => reservations.reportJson(bytes, seen),
    toJson: responseToJson,
  };
  const reserve: Method<ReserveResponse> = {
    span: reservationSpans.reserve,
    ask: (bytes, seen) => reservations.reserveJson(bytes, seen),
    toJson: reserveToJson,
    isRefused: ({ code }) => code === Code.OVER_LIMIT,
    denied: { code: "OVER_LIMIT" },
  };
  const commit: Method<CommitResponse> = {
    span: reservationSpans.commit,
    ask: (bytes, seen) => reservations.commitJson(bytes, seen),
    toJson: commitToJson,
  };

  class Check extends Call {
    POST() {
      return this.run("/v1/check", check);
    }
  }

  class Report extends Call {
    POST() {
      return this.run("/v1/report", report);
    }
  }

  class Reserve extends Call {
    POST() {
      return this.run("/v1/reserve", reserve);
    }
  }

  class Commit extends Call {
    POST() {
      return this.run("/v1/commit", commit);
    }
  }

  return { Check, Report, Reserve, Commit };
}

/** One call of the service. */
interface Method<Answer> {
  readonly span: ReservationSpan<Answer>;
  ask(bytes: Uint8Array, seen?: Seen): Answer | Promise<Answer>;
  toJson(answer: Answer): JsonObject;
  /** Whether the status of an answer is 429. */
  isRefused?(answer: Answer): boolean;
  /** The answer to a call above a size limit, if it is refused. */
  readonly denied?: JsonObject;
}

function httpErrorFor(error: unknown, handler: RateLimitHandler): HttpError {
  if (!(error instanceof ReservationError)) return HttpError.is(error) ? error : httpErrorOf(error, handler);
  const { message } = handler.failureOf(error);
  if (error.code === "TOO_MANY_RESERVATIONS") return new HttpError(TOO_MANY_REQUESTS, message);
  const errors = [{ in: "body", name: error.field, message }] as const;
  return new HttpError(400, message, { errors: [...errors] });
}
