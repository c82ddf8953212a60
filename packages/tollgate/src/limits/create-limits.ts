import { GrpcClient } from "./grpc-client.ts";
import { HttpClient, isHttpAddress } from "./http-client.ts";
import { type Limits, type LimitsOptions, ServiceLimits } from "./service-limits.ts";

/**
 * Creates the limits of one domain. The first call opens the connection.
 * @throws {TypeError} for invalid options
 * @example
 * ```ts
 * import { createLimits } from "@tollway/tollgate/limits";
 * import { Controller } from "@tollway/waymark";
 *
 * const limits = createLimits({ address: "localhost:8081", domain: "shop" });
 *
 * export class Orders extends Controller {
 *   override before() { return limits.check(this, { remote_address: this.remoteAddress }); }
 *   GET() { return { orders: [] }; }
 * }
 * ```
 */
export function createLimits(options: LimitsOptions): Limits {
  return new ServiceLimits(options, ({ address, ...rest }) =>
    address !== undefined && isHttpAddress(address)
      ? new HttpClient({ address, ...rest })
      : new GrpcClient({ address, ...rest }),
  );
}
