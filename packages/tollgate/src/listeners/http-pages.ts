import { Controller, HttpError } from "@tollway/waymark";
import type { Health } from "../observe/health.ts";
import type { Tracing } from "../observe/tracing/tracing.ts";
import { JsonRequestError } from "../protocol/json-request.ts";
import { responseToJson } from "../protocol/json-response.ts";
import { Code, type JsonObject, type RateLimitResponse } from "../protocol/messages.ts";
import { OversizedRequestError } from "../protocol/request-limits.ts";
import type { CallFailure } from "./call-failure.ts";
import type { ControllerTable } from "./http-listener.ts";
import { openApiDocument } from "./openapi-document.ts";
import type { RateLimitHandler } from "./rate-limit-handler.ts";
import { TracedCall } from "./traced-call.ts";

/** Names of the OpenTelemetry semantic conventions for HTTP. */
const attributes = { "http.request.method": "POST", "http.route": "/json" };

const TEXT = "text/plain; charset=utf-8";

const httpStatus: Record<CallFailure["reason"], number> = {
  INVALID_ARGUMENT: 400,
  RESOURCE_EXHAUSTED: 413,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
  UNIMPLEMENTED: 501,
  INTERNAL: 500,
};

/** The HTTP error for a decision that failed. Its problem details name the faulty field, if there is one. */
export function httpErrorOf(error: unknown, handler: RateLimitHandler): HttpError {
  const { reason, message } = handler.failureOf(error);
  if (!(error instanceof JsonRequestError) || error.field === "")
    return new HttpError(httpStatus[reason], message);
  const { field, problem } = error;
  return new HttpError(400, message, { errors: [{ in: "body", name: field, message: problem }] });
}

/** The pages of the HTTP port: `POST /json`, `GET /healthcheck`, and those of `http-reservations.ts` under `/v1`. */
export function httpPages(
  handler: RateLimitHandler,
  health: Health,
  tracing: Tracing,
  v1: ControllerTable,
): ControllerTable {
  class Json extends Controller {
    static override bodyLimit = handler.maxRequestBytes;

    async POST() {
      const traced = TracedCall.begin(
        tracing,
        "POST /json",
        (name) => this.headers.get(name) ?? undefined,
        attributes,
      );
      const bytes = await this.#read();
      if (traced !== undefined) return this.#decideTraced(bytes, traced);
      const answer = this.#decide(bytes);
      // A response that is not a promise must be read at once: see decideJson.
      const response = answer instanceof Promise ? await answer : answer;
      this.#writeHead(response);
      return responseToJson(response);
    }

    #writeHead(response: RateLimitResponse): void {
      if (response.overallCode === Code.OVER_LIMIT) this.response.status = 429;
      for (const { key, value } of response.responseHeadersToAdd) this.response.headers.append(key, value);
    }

    /** The body, or an error if it is too large. */
    async #read(): Promise<Uint8Array | OversizedRequestError> {
      try {
        return await this.bytes();
      } catch (error) {
        if (HttpError.is(error) && error.status === 413) return new OversizedRequestError(error.message);
        throw error;
      }
    }

    #decide(body: Uint8Array | OversizedRequestError): RateLimitResponse | Promise<RateLimitResponse> {
      if (body instanceof OversizedRequestError) return fail(body);
      try {
        const answer = handler.decideJson(body);
        return answer instanceof Promise ? answer.catch(fail) : answer;
      } catch (error) {
        return fail(error);
      }
    }

    async #decideTraced(body: Uint8Array | OversizedRequestError, traced: TracedCall): Promise<JsonObject> {
      let response: RateLimitResponse;
      try {
        if (body instanceof OversizedRequestError) throw body;
        response = await traced.decide(handler, handler.decodeJson(body), 0);
      } catch (error) {
        const denial = handler.denialOf(error);
        if (denial === undefined) {
          const failure = httpErrorOf(error, handler);
          traced.end({ "http.response.status_code": failure.status }, failure.message);
          throw failure;
        }
        response = denial;
      }
      this.#writeHead(response);
      const json = traced.toJson(response);
      traced.end({ "http.response.status_code": response.overallCode === Code.OVER_LIMIT ? 429 : 200 });
      return json;
    }
  }

  /** The denial for a decision that failed, if the policy answers with one. Throws the caller's error otherwise. */
  function fail(error: unknown): RateLimitResponse {
    const denial = handler.denialOf(error);
    if (denial === undefined) throw httpErrorOf(error, handler);
    return denial;
  }

  class Healthcheck extends Controller {
    GET() {
      if (!health.healthy) this.response.status = 503;
      // A blob has a type. `this.response.headers` would load the whole of fetch: 16 MB.
      return new Blob([health.body()], { type: TEXT });
    }
  }

  class Default extends Controller {
    GET() {
      return openApiDocument;
    }
  }

  return { Json, Healthcheck, v1, "openapi.json": { Default } };
}
