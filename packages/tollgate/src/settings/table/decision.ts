import { bool, choice, decimal, text } from "../kinds/kinds.ts";
import { setting } from "../kinds/setting.ts";

export const decision = {
  nearLimitRatio: setting(
    "NEAR_LIMIT_RATIO",
    decimal(0, 1),
    0.8,
    "Share of a limit above which statistics count hits as near the limit.",
  ),
  shadowMode: setting(
    "SHADOW_MODE",
    bool,
    false,
    "Answers OK to every call. Counters and statistics work as usual.",
  ),
  quotaMode: setting("QUOTA_MODE", bool, false, "Treats every rule as if it had `quota_mode`."),
  stopIncrementing: setting(
    "STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT",
    bool,
    false,
    "When a descriptor of a call goes over its limit, the service does not count the call's other descriptors.",
  ),
  cacheKeyPrefix: setting(
    "CACHE_KEY_PREFIX",
    text,
    "",
    "Prefix of every key in the store, at most 150 bytes. With memcached, it must not contain white space or control characters.",
  ),
  dynamicMetadata: setting(
    "RESPONSE_DYNAMIC_METADATA",
    bool,
    false,
    "Adds the `metadata` of the rules that decided a call to its response.",
  ),
  headers: {
    enabled: setting(
      "LIMIT_RESPONSE_HEADERS_ENABLED",
      bool,
      false,
      "Adds headers with the limit, the remaining hits and the reset time to responses.",
    ),
    limit: setting("LIMIT_LIMIT_HEADER", text, "RateLimit-Limit", "Name of the header with the limit."),
    remaining: setting(
      "LIMIT_REMAINING_HEADER",
      text,
      "RateLimit-Remaining",
      "Name of the header with the remaining hits.",
    ),
    reset: setting(
      "LIMIT_RESET_HEADER",
      text,
      "RateLimit-Reset",
      "Name of the header with the seconds until the window ends.",
    ),
    format: setting(
      "LIMIT_RESPONSE_HEADERS_FORMAT",
      choice({ separate: "contract", "draft-10": "draft-10" }),
      "contract",
      "`separate`: the three headers above. `draft-10`: `RateLimit-Policy`, `RateLimit` and `Retry-After` as in draft 10 of the IETF's rate limit header fields.",
    ),
  },
};
