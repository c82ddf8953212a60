import type { GrpcServer } from "../server.ts";
import { GrpcError, Status } from "../status.ts";
import type { StreamingCall } from "../types.ts";
import { DecodeError, lengthField, numberField, readFields, stringField } from "./protobuf.ts";

/** `grpc.health.v1.HealthCheckResponse.ServingStatus`. */
const STATUS_NUMBERS = { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } as const;

/** The health of a service. */
export type HealthStatus = "UNKNOWN" | "SERVING" | "NOT_SERVING";

const PREFIX = "/grpc.health.v1.Health/";
/** The maximum number of services in a response of `List` (grpc/proposal A99). */
const MAX_LISTED = 100;

/**
 * gRPC health checking (`grpc.health.v1.Health`: Check, Watch, List). The empty name means the whole server, which starts as
 * SERVING. A drain of the server ends all watches.
 * @example
 * ```ts
 * import { GrpcServer, HealthService } from "@tollway/grpc-wire";
 *
 * const health = new HealthService();
 * health.addTo(new GrpcServer());
 * health.set("demo.Greeter", "NOT_SERVING");
 * ```
 */
export class HealthService {
  readonly #statuses = new Map<string, HealthStatus>([["", "SERVING"]]);
  /** One function per watch. It wakes the watch. */
  readonly #watchers = new Set<() => void>();
  #isClosed = false;

  /** Sets a service's health, and sends it to its watches. */
  set(service: string, status: HealthStatus): void {
    this.#statuses.set(service, status);
    this.#wake();
  }

  /** Removes a service. Check then fails with NOT_FOUND, and Watch sends SERVICE_UNKNOWN. */
  delete(service: string): void {
    this.#statuses.delete(service);
    this.#wake();
  }

  /** The status of a service; `""` is the server as a whole. Undefined if none was set. */
  get(service: string): HealthStatus | undefined {
    return this.#statuses.get(service);
  }

  /** Ends all watches with UNAVAILABLE after the last status, and all later watches after their first. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  /** Registers the service's methods. */
  addTo(server: GrpcServer): void {
    server.unary(`${PREFIX}Check`, (message) => this.#check(message));
    server.unary(`${PREFIX}List`, () => this.#list());
    server.serverStreaming(`${PREFIX}Watch`, (message, call) => this.#watch(message, call));
    server.onDrain(() => this.close());
  }

  #check(message: Uint8Array): Uint8Array {
    const service = serviceOf(message);
    const status = this.#statuses.get(service);
    if (status === undefined)
      throw new GrpcError(Status.NOT_FOUND, `unknown service ${JSON.stringify(service.slice(0, 256))}`);
    return numberField(1, STATUS_NUMBERS[status]);
  }

  #list(): Uint8Array {
    if (this.#statuses.size > MAX_LISTED)
      throw new GrpcError(Status.RESOURCE_EXHAUSTED, `more than ${MAX_LISTED} services: use Check`);
    const entries = [...this.#statuses].map(([service, status]) =>
      lengthField(1, [lengthField(1, service), lengthField(2, numberField(1, STATUS_NUMBERS[status]))]),
    );
    return Buffer.concat(entries);
  }

  async *#watch(message: Uint8Array, call: StreamingCall): AsyncGenerator<Uint8Array> {
    const service = serviceOf(message);
    const { signal } = call;
    let sent: number | undefined;
    while (!signal.aborted) {
      const status = STATUS_NUMBERS[this.#statuses.get(service) ?? "SERVICE_UNKNOWN"];
      if (status !== sent) {
        sent = status;
        yield numberField(1, status);
        continue;
      }
      if (this.#isClosed) throw new GrpcError(Status.UNAVAILABLE, "the server is shutting down");
      await this.#change(signal);
    }
  }

  /** Resolves at the next change of any service, or when `signal` aborts. */
  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#watchers.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#watchers.add(wake);
      signal.addEventListener("abort", wake);
    });
  }

  #wake(): void {
    for (const wake of [...this.#watchers]) wake();
  }
}

function serviceOf(message: Uint8Array): string {
  try {
    return stringField(readFields(message), 1);
  } catch (error) {
    if (error instanceof DecodeError) throw new GrpcError(Status.INVALID_ARGUMENT, error.message);
    throw error;
  }
}
