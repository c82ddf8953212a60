/** `@tollway/waymark/kit/telemetry`: spans and durations of requests, for the OpenTelemetry that the process has set up. */
import {
  context,
  type Histogram,
  metrics,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  trace,
} from "@opentelemetry/api";
import type { Controller } from "../controller/controller.ts";
import { type Exchange, Slot } from "../controller/exchange.ts";
import type { Part } from "../controller/part.ts";

/** Options of {@link telemetry}. */
export interface TelemetryOptions {
  /** The name of the tracer and the meter. Default `@tollway/waymark`. */
  readonly name?: string;
  /** True leaves a request out, such as a health check. */
  readonly skip?: (exchange: Exchange) => boolean;
}

/** The part that {@link telemetry} returns. */
export interface Telemetry extends Part {
  /** The span of a request, for attributes and events of your own. Undefined for a request that was left out. */
  spanOf(request: Controller | Exchange): Span | undefined;
}

const METHODS = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "DELETE",
  "CONNECT",
  "OPTIONS",
  "TRACE",
  "PATCH",
  "QUERY",
]);

const HEADERS: TextMapGetter<Exchange> = {
  get: (exchange, name) => exchange.header(name),
  keys: (exchange) => exchange.incoming.headers().map(([name]) => name),
};

/**
 * A server span for every request and the histogram `http.server.request.duration`, with the names of OpenTelemetry's
 * semantic conventions. The span continues the trace of the request's `traceparent`, as the propagator reads it.
 * @example
 * ```ts
 * import { Application } from "@tollway/waymark";
 * import { telemetry } from "@tollway/waymark/kit/telemetry";
 *
 * export const application = new Application({ use: [telemetry({ skip: ({ path }) => path === "/health" })] });
 * ```
 */
export function telemetry({ name = "@tollway/waymark", skip }: TelemetryOptions = {}): Telemetry {
  const spans = new Slot<Span>();
  let durations: Histogram | undefined;
  return {
    spanOf: (request) => spans.get(request),
    around(exchange, next) {
      if (skip?.(exchange) === true) return next();
      const parent = propagation.extract(context.active(), exchange, HEADERS);
      const kind = SpanKind.SERVER;
      // The providers are asked for each span, because a process may set them up after its application.
      const span = trace
        .getTracer(name)
        .startSpan(methodOf(exchange), { kind, attributes: requestOf(exchange) }, parent);
      spans.set(exchange, span);
      return context.with(trace.setSpan(parent, span), next);
    },
    onEnd(exchange) {
      const span = spans.get(exchange);
      if (span === undefined) return;
      const answer = answerOf(exchange);
      const { route, status, error } = exchange;
      if (route !== undefined) span.updateName(`${methodOf(exchange)} ${route}`);
      span.setAttributes({ ...answer, "http.response.body.size": exchange.bytes });
      // An error of the client is not an error of the server (semantic conventions for HTTP spans).
      if (status >= 500 || !exchange.complete) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        if (error instanceof Error) span.recordException(error);
      }
      span.end();
      durations ??= metrics.getMeter(name).createHistogram("http.server.request.duration", {
        description: "Duration of HTTP server requests.",
        unit: "s",
        advice: {
          explicitBucketBoundaries: [
            0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
          ],
        },
      });
      const common = { "http.request.method": knownMethod(exchange), "url.scheme": exchange.scheme };
      durations.record(exchange.duration / 1000, { ...common, ...answer });
    },
  };
}

/** The name of a span must not be the client's choice. */
function methodOf(exchange: Exchange): string {
  const method = knownMethod(exchange);
  return method === "_OTHER" ? "HTTP" : method;
}

function knownMethod({ method }: Exchange): string {
  return METHODS.has(method) ? method : "_OTHER";
}

function requestOf(exchange: Exchange): Record<string, string> {
  const { method, path, scheme, remoteAddress } = exchange;
  const agent = exchange.header("user-agent");
  const known = knownMethod(exchange);
  return {
    "http.request.method": known,
    ...(known === "_OTHER" && { "http.request.method_original": method.slice(0, 50) }),
    "url.path": path,
    "url.scheme": scheme,
    ...(remoteAddress !== undefined && { "client.address": remoteAddress }),
    ...(agent !== undefined && { "user_agent.original": agent }),
  };
}

function answerOf({ route, status, complete, error }: Exchange): Record<string, string | number> {
  const failed = status >= 500 ? String(status) : complete ? undefined : errorType(error);
  return {
    "http.response.status_code": status,
    ...(route !== undefined && { "http.route": route }),
    ...(failed !== undefined && { "error.type": failed }),
  };
}

/** Metrics are counted by this value, so it must come from a small set. */
function errorType(error: unknown): string {
  return error instanceof Error ? error.name : "incomplete";
}
