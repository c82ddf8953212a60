/**
 * `@tollway/tollgate/limits`: limits calls of a Waymark controller's methods, or of other code, with Tollgate's rules.
 */

export { createLimits } from "./limits/create-limits.ts";
export type { LimitsTls } from "./limits/rate-limit-client.ts";
export type {
  Caller,
  Descriptors,
  DescriptorValues,
  Limits,
  LimitsOptions,
} from "./limits/service-limits.ts";
