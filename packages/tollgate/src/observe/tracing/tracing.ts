import type { Logger } from "../log.ts";

/** Values of span attributes. */
export type TraceAttributes = Readonly<Record<string, string | number | boolean>>;

/** Reads a header of a call by its lower-case name. */
export type HeaderReader = (name: string) => string | undefined;

/** A recorded operation. */
export interface TraceSpan {
  set(attributes: TraceAttributes): void;
  /** Ends the span. Call once. @param error what went wrong; marks the span as failed */
  end(error?: string): void;
}

/** A recorded call to this service, on the server's side. */
export interface CallTrace extends TraceSpan {
  /** Starts a span for a part of the call: `ShouldRateLimit Execution`. */
  child(name: string, attributes: TraceAttributes): TraceSpan;
}

/** A recorded call to this service, on the caller's side. */
export interface ClientTrace extends TraceSpan {
  /** The headers that carry the trace: W3C and B3. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Creates spans. Callers check {@link enabled} first: with tracing disabled nothing else is executed, and no library of
 * OpenTelemetry is loaded.
 */
export interface Tracing {
  readonly enabled: boolean;
  /**
   * The call whose hits are being passed to a store. The decision sets it before it calls the store and clears it
   * afterwards. A store that collects batches reads it during the call.
   */
  active: CallTrace | undefined;
  /**
   * Starts the server span of a call. Undefined if the call is not sampled; the check comes before any allocation.
   * @param name `envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit`, `POST /json`
   */
  startCall(name: string, headers: HeaderReader, attributes: TraceAttributes): CallTrace | undefined;
  /**
   * Starts the span of one round trip to a store, in the trace of the first call and with links to all calls.
   * @param calls the recorded calls of the batch; undefined is returned if there are none
   */
  startRoundTrip(
    name: string,
    calls: readonly CallTrace[],
    attributes: TraceAttributes,
  ): TraceSpan | undefined;
  /** Starts the span of an outgoing call (`tollgate client`). */
  startClientCall(name: string, attributes: TraceAttributes): ClientTrace | undefined;
  /** Exports the recorded spans and releases all resources, within `milliseconds`. */
  close(milliseconds: number): Promise<void>;
}

/** Disabled tracing. */
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
  /** `TRACING_SERVICE_NAMESPACE`. Empty: no namespace. */
  readonly serviceNamespace: string;
  /** `TRACING_SERVICE_INSTANCE_ID`. Empty: a random UUID. */
  readonly serviceInstanceId: string;
  /** `TRACING_SAMPLING_RATE`, 0 to 1: applies to calls without a sampling decision of their caller. */
  readonly samplingRate: number;
  readonly log: Logger;
}
