/**
 * `@tollway/tollgate/limits` for runtimes without the modules of Node, such as workers: asks the service over HTTP.
 */

export { createLimits } from "./limits/create-limits-web.ts";
export type { LimitsTls } from "./limits/rate-limit-client.ts";
export type {
  Caller,
  Descriptors,
  DescriptorValues,
  Limits,
  LimitsOptions,
} from "./limits/service-limits.ts";
