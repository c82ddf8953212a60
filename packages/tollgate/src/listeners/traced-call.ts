import type { CallTrace, HeaderReader, TraceAttributes, Tracing } from "../observe/tracing/tracing.ts";
import { responseToJson } from "../protocol/json-response.ts";
import type { JsonObject, RateLimitRequest, RateLimitResponse } from "../protocol/messages.ts";
import { codeNames } from "../protocol/units.ts";
import { printable } from "../text/printable.ts";
import type { RateLimitHandler } from "./rate-limit-handler.ts";
import type { Seen } from "./reservation-handler.ts";
import type { ReservationSpan } from "./reservation-spans.ts";

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
      const response = await this.#inTrace(() => handler.decide(request, deadline));
      span.set({ "overall code": codeNames[response.overallCode] });
      span.end();
      return response;
    } catch (error) {
      span.end(error instanceof Error ? error.name : "failed");
      throw error;
    }
  }

  /**
   * Runs a call of the reservation service in a child span, and reads its answer at once: a later call reuses one that is
   * not a promise.
   */
  async reserve<Answer, Result>(
    { name, attributesOf }: ReservationSpan<Answer>,
    ask: (seen: Seen) => Answer | Promise<Answer>,
    read: (answer: Answer) => Result,
  ): Promise<Result> {
    const span = this.#trace.child(`${name} Execution`, {});
    const seen: Seen = (domain, descriptors) =>
      span.set({ domain: printable(domain), "descriptor count": descriptors });
    try {
      const asked = this.#inTrace(() => ask(seen));
      const answer = asked instanceof Promise ? await asked : asked;
      span.set(attributesOf(answer));
      span.end();
      return read(answer);
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

  /** Stores read the active trace when a call reaches them, to link their batches to it. */
  #inTrace<Answer>(ask: () => Answer): Answer {
    this.#tracing.active = this.#trace;
    try {
      return ask();
    } finally {
      this.#tracing.active = undefined;
    }
  }
}
