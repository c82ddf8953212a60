/**
 * `@tollway/tollgate/limits`: puts a method of a Waymark controller, or anything else, behind a Tollgate's limits.
 */
export type { Caller, Descriptors, DescriptorValues, Limits, LimitsOptions } from "./limits/limits.ts";
export { createLimits } from "./limits/limits.ts";
