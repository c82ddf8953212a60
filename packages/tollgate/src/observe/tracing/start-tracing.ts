import type { Tracing, TracingOptions } from "./tracing.ts";

/**
 * Enables tracing: loads OpenTelemetry and exports over OTLP. The exporter reads the standard `OTEL_EXPORTER_OTLP_*`
 * variables of the environment, and the SDK reads `OTEL_RESOURCE_ATTRIBUTES`.
 */
export async function startTracing(options: TracingOptions): Promise<Tracing> {
  const { OpenTelemetryTracing } = await import("./opentelemetry.ts");
  return await OpenTelemetryTracing.start(options);
}
