/** `:path` of the only method of `envoy.service.ratelimit.v3.RateLimitService`. */
export const SHOULD_RATE_LIMIT = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
