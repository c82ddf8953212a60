import type { CallTrace, HeaderReader, TraceAttributes, Tracing } from "../observe/tracing/tracing.ts";
import { responseToJson } from "../protocol/json-response.ts";
import type { JsonObject, RateLimitRequest, RateLimitResponse } from "../protocol/messages.ts";
import { codeNames } from "../protocol/units.ts";
import { printable } from "../text/printable.ts";
import type { RateLimitHandler } from "./rate-limit-handler.ts";

/** A sampled call: its server span, and in it the span of the decision. */
export class TracedCall {
  readonly #tracing: Tracing;
  readonly #trace: CallTrace;

  private constructor(tracing: Tracing, trace: CallTrace) {
    this.#tracing = tracing;
    this.#trace = trace;
  }

  /** Undefined if tracing is off (one comparison) or the call is not sampled. */
  static begin(
    tracing: Tracing,
    name: string,
    headers: HeaderReader,
    attributes: TraceAttributes,
  ): TracedCall | undefined {
    if (!tracing.enabled) return undefined;
    const trace = tracing.startCall(name, headers, attributes);
    return trace && new TracedCall(tracing, trace);
  }

  /** Decides in a child span. */
  async decide(
    handler: RateLimitHandler,
    request: RateLimitRequest,
    deadline: number,
  ): Promise<RateLimitResponse> {
    const { domain, descriptors } = request;
    const span = this.#trace.child("ShouldRateLimit Execution", {
      domain: printable(domain),
      "descriptor count": descriptors.length,
    });
    try {
      const response = await this.#decideInTrace(handler, request, deadline);
      span.set({ "overall code": codeNames[response.overallCode] });
      span.end();
      return response;
    } catch (error) {
      span.end(error instanceof Error ? error.name : "failed");
      throw error;
    }
  }

  /** Converts the response to JSON in a child span that has the Go service's name and its attribute `response`. */
  toJson(response: RateLimitResponse): JsonObject {
    const span = this.#trace.child("NewJsonHandler Remaining Execution", {});
    const json = responseToJson(response);
    span.set({ response: JSON.stringify(json) });
    span.end();
    return json;
  }

  /** @param error the message that the caller saw, if the call failed */
  end(attributes: TraceAttributes, error?: string): void {
    this.#trace.set(attributes);
    this.#trace.end(error);
  }

  /** Stores read the active trace when `count` is called, to link their batches to it. */
  #decideInTrace(
    handler: RateLimitHandler,
    request: RateLimitRequest,
    deadline: number,
  ): RateLimitResponse | Promise<RateLimitResponse> {
    this.#tracing.active = this.#trace;
    try {
      return handler.decide(request, deadline);
    } finally {
      this.#tracing.active = undefined;
    }
  }
}
