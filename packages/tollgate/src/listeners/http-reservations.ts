import { Controller, HttpError } from "@tollway/waymark";
import { commitToJson, reserveToJson } from "../protocol/json-reservation.ts";
import { responseToJson } from "../protocol/json-response.ts";
import { Code, type JsonObject } from "../protocol/messages.ts";
import { OversizedRequestError } from "../protocol/request-limits.ts";
import { ReservationError } from "../reservations/reservation-error.ts";
import type { ControllerTable } from "./http-listener.ts";
import { httpErrorOf } from "./http-pages.ts";
import type { RateLimitHandler } from "./rate-limit-handler.ts";
import type { ReservationHandler } from "./reservation-handler.ts";

const TOO_MANY_REQUESTS = 429;

/** `POST /v1/check`, `/v1/report`, `/v1/reserve` and `/v1/commit`: the reservation service in JSON. */
export function reservationPages(
  reservations: ReservationHandler,
  handler: RateLimitHandler,
): ControllerTable {
  class Call extends Controller {
    static override private = true;
    static override bodyLimit = handler.maxRequestBytes;

    /** Runs a call, and converts its errors. @param denied the answer to a call above a size limit, if it is refused */
    protected async run(
      call: (bytes: Uint8Array) => JsonObject | Promise<JsonObject>,
      denied?: JsonObject,
    ): Promise<JsonObject> {
      try {
        return await call(await this.#read());
      } catch (error) {
        if (denied !== undefined && handler.denialOf(error) !== undefined) return this.refuse(denied);
        throw httpErrorFor(error, handler);
      }
    }

    protected refuse(answer: JsonObject): JsonObject {
      this.response.status = TOO_MANY_REQUESTS;
      return answer;
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

  const denied = { code: "OVER_LIMIT" };

  class Check extends Call {
    POST() {
      return this.run(
        (bytes) =>
          then(reservations.checkJson(bytes), (response) => {
            const answer = responseToJson(response);
            return response.overallCode === Code.OVER_LIMIT ? this.refuse(answer) : answer;
          }),
        { overallCode: "OVER_LIMIT" },
      );
    }
  }

  class Report extends Call {
    POST() {
      return this.run((bytes) => then(reservations.reportJson(bytes), responseToJson));
    }
  }

  class Reserve extends Call {
    POST() {
      return this.run(
        (bytes) =>
          then(reservations.reserveJson(bytes), (response) => {
            const answer = reserveToJson(response);
            return response.code === Code.OVER_LIMIT ? this.refuse(answer) : answer;
          }),
        denied,
      );
    }
  }

  class Commit extends Call {
    POST() {
      return this.run((bytes) => then(reservations.commitJson(bytes), commitToJson));
    }
  }

  return { Check, Report, Reserve, Commit };
}

/** Reads a response that is not a promise at once: the next call may reuse it. */
function then<From, To>(answer: From | Promise<From>, read: (response: From) => To): To | Promise<To> {
  return answer instanceof Promise ? answer.then(read) : read(answer);
}

function httpErrorFor(error: unknown, handler: RateLimitHandler): HttpError {
  if (!(error instanceof ReservationError)) return HttpError.is(error) ? error : httpErrorOf(error, handler);
  const { message } = handler.failureOf(error);
  if (error.code === "TOO_MANY_RESERVATIONS") return new HttpError(TOO_MANY_REQUESTS, message);
  const errors = [{ in: "body", name: error.field, message }] as const;
  return new HttpError(400, message, { errors: [...errors] });
}
