/** Error for an invalid setting of a sink. Thrown when the sink is created, so it ends the start of the service. */
export class SinkConfigError extends Error {
  override readonly name = "SinkConfigError";
  readonly code = "BAD_SINK_CONFIG";
}
