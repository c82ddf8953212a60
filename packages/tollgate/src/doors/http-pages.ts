import { Controller, HttpError } from "@tollway/waymark";
import type { Health } from "../observe/health.ts";
import type { Tracing } from "../observe/tracing/tracing.ts";
import { JsonRequestError, requestFromJsonBytes } from "../protocol/json-request.ts";
import { responseToJson } from "../protocol/json-response.ts";
import { Code, type RateLimitResponse } from "../protocol/messages.ts";
import type { Answering, CallFailure } from "./answering.ts";
import type { ControllerTable } from "./http-listener.ts";
import { TracedCall } from "./traced-call.ts";

/** Names of the OpenTelemetry semantic conventions for HTTP. */
const attributes = { "http.request.method": "POST", "http.route": "/json" };

const TEXT = "text/plain; charset=utf-8";

/** Largest request that `/json` reads, in bytes. */
export const JSON_BODY_LIMIT = 1024 * 1024;

const httpStatus: Record<CallFailure["reason"], number> = {
  INVALID_ARGUMENT: 400,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
  INTERNAL: 500,
};

/** What a caller gets for a decision that failed: problem details that name the field where one is to blame. */
export function httpErrorOf(error: unknown, answering: Answering): HttpError {
  const { reason, message } = answering.failureOf(error);
  if (!(error instanceof JsonRequestError) || error.field === "")
    return new HttpError(httpStatus[reason], message);
  const problem = message.slice(error.field.length + ": ".length);
  return new HttpError(400, message, { errors: [{ in: "body", name: error.field, message: problem }] });
}

/** The pages of the HTTP port: `POST /json` and `GET /healthcheck`. */
export function httpPages(answering: Answering, health: Health, tracing: Tracing): ControllerTable {
  class Json extends Controller {
    static override bodyLimit = JSON_BODY_LIMIT;

    async POST() {
      const traced = TracedCall.begin(
        tracing,
        "POST /json",
        (name) => this.headers.get(name) ?? undefined,
        attributes,
      );
      const bytes = await this.bytes();
      const answer = traced === undefined ? this.#decide(bytes) : this.#decideTraced(bytes, traced);
      // What is there at once is read at once: see decideJson.
      return this.#show(answer instanceof Promise ? await answer : answer);
    }

    #show(response: RateLimitResponse) {
      if (response.overallCode === Code.OVER_LIMIT) this.response.status = 429;
      for (const { key, value } of response.responseHeadersToAdd) this.response.headers.append(key, value);
      return responseToJson(response);
    }

    #decide(bytes: Uint8Array): RateLimitResponse | Promise<RateLimitResponse> {
      try {
        const answer = answering.decideJson(bytes);
        return answer instanceof Promise ? answer.catch(fail) : answer;
      } catch (error) {
        return fail(error);
      }
    }

    async #decideTraced(bytes: Uint8Array, traced: TracedCall): Promise<RateLimitResponse> {
      try {
        const response = await traced.decide(answering, requestFromJsonBytes(bytes), 0);
        const refused = response.overallCode === Code.OVER_LIMIT;
        traced.end({ "http.response.status_code": refused ? 429 : 200 });
        return response;
      } catch (error) {
        const failure = httpErrorOf(error, answering);
        traced.end({ "http.response.status_code": failure.status }, failure.message);
        throw failure;
      }
    }
  }

  function fail(error: unknown): never {
    throw httpErrorOf(error, answering);
  }

  class Healthcheck extends Controller {
    GET() {
      this.response.headers.set("content-type", TEXT);
      if (!health.healthy) this.response.status = 503;
      return health.body();
    }
  }

  return { Json, Healthcheck };
}
