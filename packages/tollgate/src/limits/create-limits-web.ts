import { HttpClient, isHttpAddress } from "./http-client.ts";
import { type Limits, type LimitsOptions, ServiceLimits } from "./service-limits.ts";

/**
 * Creates the limits of one domain, on a runtime without the modules of Node.
 * @throws {TypeError} for invalid options, and for an address that is not that of an HTTP port
 * @example
 * ```ts
 * import { createLimits } from "@tollway/tollgate/limits";
 *
 * export const limits = createLimits({ address: "http://tollgate.internal:8080", domain: "shop" });
 * ```
 */
export function createLimits(options: LimitsOptions): Limits {
  return new ServiceLimits(options, ({ address, ...rest }) => {
    if (address === undefined || !isHttpAddress(address))
      throw new TypeError(
        `address must be that of Tollgate's HTTP port, such as "http://tollgate.internal:8080", not ${JSON.stringify(address)}: this runtime has no gRPC`,
      );
    return new HttpClient({ address, ...rest });
  });
}
