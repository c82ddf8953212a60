import type { ConnectionOptions, LimitOptions } from "./types.ts";

const MiB = 1024 * 1024;

const DEFAULT_LIMITS: Required<LimitOptions> = {
  maxRequestBytes: 4 * MiB,
  maxConnections: 65_536,
  maxConcurrentStreams: 1000,
  maxHeaderListBytes: 16 * 1024,
  maxHeaderBlockBytes: 32 * 1024,
  maxContinuationFrames: 16,
  maxBufferedBytesPerConnection: 16 * MiB,
  maxBufferedBytes: 256 * MiB,
  maxQueuedBytesPerConnection: 16 * MiB,
  maxQueuedBytes: 256 * MiB,
  resetBurst: 1000,
  resetsPerSecond: 500,
  idleFrameBurst: 1000,
  idleFramesPerSecond: 200,
  streamWindowBytes: 256 * 1024,
  connectionWindowBytes: MiB,
};

const DEFAULT_TIMES: Required<ConnectionOptions> = {
  maxConnectionAgeMs: 0,
  maxConnectionAgeGraceMs: 0,
  maxConnectionIdleMs: 0,
  keepaliveTimeMs: 60_000,
  keepaliveTimeoutMs: 20_000,
  minPingIntervalMs: 10_000,
  maxPingStrikes: 2,
  handshakeTimeoutMs: 10_000,
  sendTimeoutMs: 30_000,
  requestTimeoutMs: 60_000,
};

/**
 * An invalid option. The `message` names the option and its valid values.
 * @example
 * ```ts
 * import { GrpcServer, OptionError } from "@tollway/grpc-wire";
 *
 * try {
 *   new GrpcServer({ limits: { maxConcurrentStreams: 0 } });
 * } catch (error) {
 *   if (error instanceof OptionError) console.error(error.message);
 * }
 * ```
 */
export class OptionError extends RangeError {
  /** Always `ERR_GRPC_WIRE_OPTION`. */
  readonly code = "ERR_GRPC_WIRE_OPTION";

  constructor(message: string) {
    super(message);
    this.name = "OptionError";
  }
}

function fill<T extends object>(kind: string, defaults: Required<T>, given: T | undefined): Required<T> {
  const result = { ...defaults };
  for (const [name, value] of Object.entries(given ?? {})) {
    if (!(name in defaults)) throw new OptionError(`unknown option ${kind}.${name}`);
    if (value === undefined) continue;
    if (typeof value !== "number" || !(value >= 0))
      throw new OptionError(`${kind}.${name} is ${value}: it must be a number of 0 or more`);
    Object.assign(result, { [name]: value });
  }
  return result;
}

/** Fills in the defaults and checks the values. Throws an `OptionError`. */
export function resolveLimits(given: LimitOptions | undefined): Required<LimitOptions> {
  const limits = fill("limits", DEFAULT_LIMITS, given);
  for (const name of ["streamWindowBytes", "connectionWindowBytes"] as const) {
    if (!Number.isInteger(limits[name]) || limits[name] < 65_535 || limits[name] > 0x7fffffff)
      throw new OptionError(`limits.${name} is ${limits[name]}: it must be 65,535 to 2^31-1`);
  }
  if (!Number.isInteger(limits.maxConcurrentStreams) || limits.maxConcurrentStreams < 1)
    throw new OptionError("limits.maxConcurrentStreams must be an integer of 1 or more");
  limits.maxBufferedBytesPerConnection = Math.max(
    limits.maxBufferedBytesPerConnection,
    limits.maxRequestBytes,
  );
  limits.maxBufferedBytes = Math.max(limits.maxBufferedBytes, limits.maxRequestBytes);
  return limits;
}

/** Fills in the defaults and checks the values. Throws an `OptionError`. */
export function resolveTimes(given: ConnectionOptions | undefined): Required<ConnectionOptions> {
  return fill("connection", DEFAULT_TIMES, given);
}
