import type { Logger } from "../log.ts";

/** Values of span attributes. */
export type TraceAttributes = Readonly<Record<string, string | number | boolean>>;

/** Reads a header of a call by its lower-case name. */
export type HeaderReader = (name: string) => string | undefined;

/** Something that takes a while and is recorded. */
export interface TraceSpan {
  set(attributes: TraceAttributes): void;
  /** @param error what went wrong; the span is marked as failed. Call once. */
  end(error?: string): void;
}

/** A call of this service that is recorded. */
export interface CallTrace extends TraceSpan {
  /** A part of the call: `ShouldRateLimit Execution`. */
  child(name: string, attributes: TraceAttributes): TraceSpan;
}

/** A call to this service that is recorded on the caller's side. */
export interface ClientTrace extends TraceSpan {
  /** The headers that carry the trace: W3C and B3. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Where spans come from. Whoever traces asks {@link enabled} first: with tracing off that is all it costs, and no
 * library of OpenTelemetry is loaded.
 */
export interface Tracing {
  readonly enabled: boolean;
  /**
   * The call whose counts are being handed to a store right now. The decision sets it before the store is called
   * and clears it after that; a store that collects batches reads it while it is called.
   */
  active: CallTrace | undefined;
  /**
   * The server span of a call; undefined where the call is not sampled, which is found out before anything is made.
   * @param name `envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit`, `POST /json`
   */
  startCall(name: string, headers: HeaderReader, attributes: TraceAttributes): CallTrace | undefined;
  /**
   * One round trip to a store, in the trace of the first call and linked to all of them.
   * @param calls those of the batch that are recorded; without any there is no span
   */
  startRoundTrip(
    name: string,
    calls: readonly CallTrace[],
    attributes: TraceAttributes,
  ): TraceSpan | undefined;
  /** A call that this process makes (`tollgate client`). */
  startClientCall(name: string, attributes: TraceAttributes): ClientTrace | undefined;
  /** Sends what is recorded and lets go, within `milliseconds`. */
  close(milliseconds: number): Promise<void>;
}

/** Tracing that is off. */
export const noTracing: Tracing = {
  enabled: false,
  active: undefined,
  startCall: () => undefined,
  startRoundTrip: () => undefined,
  startClientCall: () => undefined,
  close: async () => {},
};

export interface TracingOptions {
  /** `TRACING_EXPORTER_PROTOCOL`. */
  readonly protocol: "http" | "grpc";
  /** `TRACING_SERVICE_NAME`. */
  readonly serviceName: string;
  /** `TRACING_SERVICE_NAMESPACE`; left out where empty. */
  readonly serviceNamespace: string;
  /** `TRACING_SERVICE_INSTANCE_ID`; a random UUID where empty. */
  readonly serviceInstanceId: string;
  /** `TRACING_SAMPLING_RATE`, 0 to 1: of the calls that come without a decision of their own. */
  readonly samplingRate: number;
  readonly log: Logger;
}

/**
 * Tracing that is on: loads OpenTelemetry and exports over OTLP. The exporter reads the standard
 * `OTEL_EXPORTER_OTLP_*` variables of the environment itself, as the SDK does `OTEL_RESOURCE_ATTRIBUTES`.
 */
export async function startTracing(options: TracingOptions): Promise<Tracing> {
  const { OpenTelemetryTracing } = await import("./opentelemetry.ts");
  return await OpenTelemetryTracing.start(options);
}
