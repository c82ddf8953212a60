import { Controller, HttpError } from "@tollway/waymark";
import type { Health } from "../observe/health.ts";
import type { Tracing } from "../observe/tracing/tracing.ts";
import { JsonRequestError, requestFromJson } from "../protocol/json-request.ts";
import { responseToJson } from "../protocol/json-response.ts";
import { Code, type RateLimitRequest, type RateLimitResponse } from "../protocol/messages.ts";
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

/** A request from a body that should be JSON, whatever its content type says (`curl -d` sends a form's). */
export function parseRequest(bytes: Uint8Array): RateLimitRequest {
  let value: unknown;
  try {
    value = JSON.parse(strictUtf8.decode(bytes));
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new JsonRequestError("", `the body is not JSON: ${problem}`);
  }
  return requestFromJson(value);
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

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
      const response = await this.#decide(await this.bytes(), traced);
      if (response.overallCode === Code.OVER_LIMIT) this.response.status = 429;
      for (const { key, value } of response.responseHeadersToAdd) this.response.headers.append(key, value);
      return responseToJson(response);
    }

    async #decide(bytes: Uint8Array, traced: TracedCall | undefined): Promise<RateLimitResponse> {
      try {
        const request = parseRequest(bytes);
        const response = await (traced?.decide(answering, request, 0) ?? answering.decide(request, 0));
        const refused = response.overallCode === Code.OVER_LIMIT;
        traced?.end({ "http.response.status_code": refused ? 429 : 200 });
        return response;
      } catch (error) {
        const failure = httpErrorOf(error, answering);
        traced?.end({ "http.response.status_code": failure.status }, failure.message);
        throw failure;
      }
    }
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
