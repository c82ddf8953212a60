import { randomUUID } from "node:crypto";
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  type Context,
  detectResources,
  envDetector,
  ROOT_CONTEXT,
  resourceFromAttributes,
  type Span,
  type SpanExporter,
  SpanKind,
  SpanStatusCode,
  setGlobalErrorHandler,
  type Tracer,
  TracerProvider,
  trace,
} from "../../vendor/opentelemetry.ts";
import type { Logger } from "../log.ts";
import { Throttle, withCount } from "../throttle.ts";
import { boundedAttributes, boundedHeaders, boundedText } from "./bounded.ts";
import { extract, inject } from "./propagation.ts";
import type {
  CallTrace,
  ClientTrace,
  HeaderReader,
  TraceAttributes,
  TraceSpan,
  Tracing,
  TracingOptions,
} from "./tracing.ts";

class RecordedSpan implements CallTrace {
  readonly span: Span;
  readonly context: Context;
  readonly #tracer: Tracer;

  constructor(tracer: Tracer, span: Span, parent: Context) {
    this.#tracer = tracer;
    this.span = span;
    this.context = trace.setSpan(parent, span);
  }

  child(name: string, attributes: TraceAttributes): TraceSpan {
    const span = this.#tracer.startSpan(
      name,
      { kind: SpanKind.INTERNAL, attributes: boundedAttributes(attributes) },
      this.context,
    );
    return new RecordedSpan(this.#tracer, span, this.context);
  }

  set(attributes: TraceAttributes): void {
    this.span.setAttributes(boundedAttributes(attributes));
  }

  end(error?: string): void {
    if (error !== undefined) this.span.setStatus({ code: SpanStatusCode.ERROR, message: boundedText(error) });
    this.span.end();
  }
}

/** Records spans with OpenTelemetry's SDK. Loaded only if tracing is enabled. */
export class OpenTelemetryTracing implements Tracing {
  readonly enabled = true;
  active: CallTrace | undefined;
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  readonly #rate: number;

  constructor(exporter: SpanExporter, options: TracingOptions) {
    this.#rate = options.samplingRate;
    this.#provider = new TracerProvider({
      // The SDK only sees sampled calls.
      sampler: new AlwaysOnSampler(),
      resource: resourceOf(options),
      // The processor's queue is bounded and drops spans when it is full.
      spanProcessors: [new BatchSpanProcessor({ exporter })],
    });
    this.#tracer = this.#provider.getTracer("tollgate");
  }

  static async start(options: TracingOptions): Promise<Tracing> {
    reportErrors(options.log);
    return new OpenTelemetryTracing(await makeExporter(options.protocol), options);
  }

  startCall(name: string, headers: HeaderReader, attributes: TraceAttributes): CallTrace | undefined {
    const upstream = extract(boundedHeaders(headers));
    if (upstream === "unsampled") return undefined;
    if (upstream === undefined && Math.random() >= this.#rate) return undefined;
    return this.#start(name, SpanKind.SERVER, upstream ?? ROOT_CONTEXT, attributes);
  }

  startRoundTrip(
    name: string,
    calls: readonly CallTrace[],
    attributes: TraceAttributes,
  ): TraceSpan | undefined {
    const recorded = calls.filter((call) => call instanceof RecordedSpan);
    const [first] = recorded;
    if (first === undefined) return undefined;
    const span = this.#tracer.startSpan(
      name,
      {
        kind: SpanKind.CLIENT,
        attributes: boundedAttributes(attributes),
        links: recorded.map((call) => ({ context: call.span.spanContext() })),
      },
      first.context,
    );
    return new RecordedSpan(this.#tracer, span, first.context);
  }

  startClientCall(name: string, attributes: TraceAttributes): ClientTrace | undefined {
    if (Math.random() >= this.#rate) return undefined;
    const recorded = this.#start(name, SpanKind.CLIENT, ROOT_CONTEXT, attributes);
    const headers = inject(recorded.context);
    return {
      headers,
      set: (more) => recorded.set(more),
      end: (error) => recorded.end(error),
    };
  }

  async close(milliseconds: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, milliseconds);
    });
    // The global error handler logs the exporter's errors.
    await Promise.race([this.#provider.shutdown().catch(() => {}), late]);
    clearTimeout(timer);
  }

  #start(name: string, kind: SpanKind, parent: Context, attributes: TraceAttributes): RecordedSpan {
    const span = this.#tracer.startSpan(name, { kind, attributes: boundedAttributes(attributes) }, parent);
    return new RecordedSpan(this.#tracer, span, parent);
  }
}

/** Merges the resource attributes of the environment and the settings. The settings win. */
function resourceOf(options: TracingOptions) {
  const own = resourceFromAttributes({
    "service.name": options.serviceName,
    ...(options.serviceNamespace === "" ? {} : { "service.namespace": options.serviceNamespace }),
    "service.instance.id": options.serviceInstanceId === "" ? randomUUID() : options.serviceInstanceId,
  });
  return detectResources({ detectors: [envDetector] }).merge(own);
}

async function makeExporter(protocol: TracingOptions["protocol"]): Promise<SpanExporter> {
  if (protocol === "grpc") {
    const { OTLPTraceExporter } = await import("../../vendor/otlp-grpc.ts");
    return new OTLPTraceExporter();
  }
  const { OTLPTraceExporter } = await import("../../vendor/otlp-http.ts");
  return new OTLPTraceExporter();
}

function reportErrors(log: Logger): void {
  const throttle = new Throttle();
  setGlobalErrorHandler((error) => {
    const count = throttle.hit();
    if (count !== undefined)
      log.warn(withCount(`tracing: spans could not be exported: ${messageOf(error)}`, count));
  });
}

function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === "string" ? error : JSON.stringify(error);
}
