/** `:path` of the only method of `envoy.service.ratelimit.v3.RateLimitService`. */
export const SHOULD_RATE_LIMIT = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";

/** `:path` of the methods of `kuadrant.service.ratelimit.v1.RateLimitService`. */
const RESERVING = "/kuadrant.service.ratelimit.v1.RateLimitService";
export const CHECK_RATE_LIMIT = `${RESERVING}/CheckRateLimit`;
export const REPORT = `${RESERVING}/Report`;
export const RESERVE = `${RESERVING}/Reserve`;
export const COMMIT = `${RESERVING}/Commit`;
