import { bool, choice, decimal, text } from "../kinds.ts";
import { setting } from "../setting.ts";

export const decision = {
  nearLimitRatio: setting(
    "NEAR_LIMIT_RATIO",
    decimal(0, 1),
    0.8,
    "Share of a limit above which hits count as near it, in statistics.",
  ),
  shadowMode: setting("SHADOW_MODE", bool, false, "Answers OK to every call, while all is counted as usual."),
  quotaMode: setting("QUOTA_MODE", bool, false, "Treats every rule as if it had `quota_mode`."),
  stopIncrementing: setting(
    "STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT",
    bool,
    false,
    "When a descriptor of a call goes over its limit, the counters of the other descriptors do not grow.",
  ),
  cacheKeyPrefix: setting(
    "CACHE_KEY_PREFIX",
    text,
    "",
    "Prefix of every key in the store, at most 150 bytes; under memcached without white space and control characters.",
  ),
  dynamicMetadata: setting(
    "RESPONSE_DYNAMIC_METADATA",
    bool,
    false,
    "Whether answers carry the `metadata` of the rules that decided them.",
  ),
  headers: {
    enabled: setting(
      "LIMIT_RESPONSE_HEADERS_ENABLED",
      bool,
      false,
      "Whether answers carry headers that tell the end user about the limit.",
    ),
    limit: setting("LIMIT_LIMIT_HEADER", text, "RateLimit-Limit", "Name of the header with the limit."),
    remaining: setting(
      "LIMIT_REMAINING_HEADER",
      text,
      "RateLimit-Remaining",
      "Name of the header with what is left.",
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
