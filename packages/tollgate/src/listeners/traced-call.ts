import type { CallTrace, HeaderReader, TraceAttributes, Tracing } from "../observe/tracing/tracing.ts";
import type { RateLimitRequest, RateLimitResponse } from "../protocol/messages.ts";
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

  /** Undefined where tracing is off (one comparison) or the call is not sampled. */
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

  /** Decides inside a span of its own. */
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
      const answer = this.#ask(handler, request, deadline);
      const response = await answer;
      span.set({ "overall code": codeNames[response.overallCode] });
      span.end();
      return response;
    } catch (error) {
      span.end(error instanceof Error ? error.name : "failed");
      throw error;
    }
  }

  /** @param error what the caller was told, where the call failed */
  end(attributes: TraceAttributes, error?: string): void {
    this.#trace.set(attributes);
    this.#trace.end(error);
  }

  /** Stores that collect batches look who is asking, while they are asked. */
  #ask(
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
