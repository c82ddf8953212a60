/** The only measured list. The goals are for one limit. */
export const TWO_LIMITS = "two limits";

/** The limits whose CPU is measured: name and YAML. The first one is the baseline. */
export const measured: readonly (readonly [name: string, limits: string])[] = [
  ["fixed window", "rate_limit: { unit: hour, requests_per_unit: 1000000000 }"],
  [
    "fixed window of 15 minutes",
    "rate_limit: { unit: minute, unit_multiplier: 15, requests_per_unit: 1000000000 }",
  ],
  ["calendar day", "rate_limit: { unit: day, requests_per_unit: 1000000000, calendar: {} }"],
  ["accepted hits", "rate_limit: { unit: hour, requests_per_unit: 1000000000, count: accepted }"],
  ["sliding window", "rate_limit: { unit: hour, requests_per_unit: 1000000000, algorithm: sliding_window }"],
  ["token bucket", "rate_limit: { unit: second, requests_per_unit: 1000000000, algorithm: token_bucket }"],
  [
    TWO_LIMITS,
    "rate_limits: [{ unit: hour, requests_per_unit: 1000000000 }, { unit: day, requests_per_unit: 1000000000 }]",
  ],
];
