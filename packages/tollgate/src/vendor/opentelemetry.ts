export type { Context, Span, TextMapGetter, Tracer } from "@opentelemetry/api";
export {
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
export {
  CompositePropagator,
  setGlobalErrorHandler,
  W3CBaggagePropagator,
  W3CTraceContextPropagator,
} from "@opentelemetry/core";
export { B3InjectEncoding, B3Propagator } from "@opentelemetry/propagator-b3";
export { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
export type { SpanExporter } from "@opentelemetry/sdk-trace";
export { AlwaysOnSampler, BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
