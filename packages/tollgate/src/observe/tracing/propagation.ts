import {
  B3InjectEncoding,
  B3Propagator,
  CompositePropagator,
  type Context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type TextMapGetter,
  TraceFlags,
  trace,
  W3CBaggagePropagator,
  W3CTraceContextPropagator,
} from "../../vendor/opentelemetry.ts";
import type { HeaderReader } from "./tracing.ts";

/** The later propagator wins if a call has headers of both formats. B3 is read in both encodings. */
const propagator = new CompositePropagator({
  propagators: [
    new B3Propagator({ injectEncoding: B3InjectEncoding.SINGLE_HEADER }),
    new W3CBaggagePropagator(),
    new W3CTraceContextPropagator(),
  ],
});

const getter: TextMapGetter<HeaderReader> = {
  get: (headers, name) => headers(name),
  keys: () => [],
};

/** The caller's sampling decision, read from the headers of a call. */
export type Upstream =
  /** The caller does not record the trace, so this process does not either. */
  | "unsampled"
  /** The caller records the trace; the context is the parent. */
  | Context
  /** The headers contain no decision: this process decides. */
  | undefined;

/** Reads W3C `traceparent`, B3 `b3` and B3 `x-b3-*`. Checks for their presence first, because most calls have none. */
export function extract(headers: HeaderReader): Upstream {
  const b3 = headers("b3");
  const b3Sampled = headers("x-b3-sampled");
  if (
    b3 === undefined &&
    b3Sampled === undefined &&
    headers("traceparent") === undefined &&
    headers("x-b3-traceid") === undefined
  )
    return undefined;
  const context = propagator.extract(ROOT_CONTEXT, headers, getter);
  const parent = trace.getSpanContext(context);
  if (parent !== undefined && isSpanContextValid(parent))
    return (parent.traceFlags & TraceFlags.SAMPLED) === 0 ? "unsampled" : context;
  // B3 can deny sampling without a trace id.
  if (b3 === "0" || b3Sampled === "0" || b3Sampled?.toLowerCase() === "false") return "unsampled";
  return undefined;
}

/** Returns the headers that carry a context to another process. */
export function inject(context: Context): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  propagator.inject(context, headers, {
    set: (carrier, name, value) => {
      carrier[name.toLowerCase()] = value;
    },
  });
  return headers;
}
