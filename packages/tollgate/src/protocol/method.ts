/** The one method of `envoy.service.ratelimit.v3.RateLimitService`, as HTTP/2's `:path` carries it. */
export const SHOULD_RATE_LIMIT = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
