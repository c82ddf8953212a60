import { randomUUID } from "node:crypto";
import { bool, choice, decimal, duration, int, path, secret } from "../kinds/kinds.ts";
import { list } from "../kinds/list-kinds.ts";
import { Secret } from "../kinds/secret.ts";
import { computed, optional, setting } from "../kinds/setting.ts";

export const topKeys = {
  enabled: setting(
    "TOP_KEYS",
    bool,
    true,
    "Counts the keys with the most hits and the most refused hits of each rule, for `/stats/top` on the debug port.",
  ),
  size: setting(
    "TOP_KEYS_SIZE",
    int(8, 1024),
    128,
    "Keys of each rule that each thread counts. The error of a count is at most the hits of the rule divided by this number.",
  ),
  window: setting(
    "TOP_KEYS_WINDOW",
    duration("above 0", 24 * 60 * 60e3),
    600e3,
    "Time after which hits are forgotten. Counts cover between half of this time and all of it.",
  ),
  metrics: setting(
    "TOP_KEYS_METRICS",
    int(0, 100),
    0,
    "Keys in each of the metrics `ratelimit_top_keys_hits` and `ratelimit_top_keys_refused` of the pull sink. `0`: no such metrics.",
  ),
  mask: setting(
    "TOP_KEYS_MASK",
    list,
    [],
    "Keys of descriptors whose values are masked wherever operators see them: top keys, log of decisions, dashboard. `*` means all keys.",
  ),
  maskStyle: setting(
    "TOP_KEYS_MASK_STYLE",
    choice({ hash: "hash", hide: "hide" }),
    "hash",
    "`hash`: a masked value is shown as a keyed hash, so equal values stay equal. `hide`: as `*****`.",
  ),
  maskSalt: computed(
    "TOP_KEYS_MASK_SALT",
    secret,
    () => new Secret(randomUUID()),
    "a random text",
    "Key of the hashes of masked values. Set it to the same text in all replicas to compare their hashes.",
  ),
};

export const decisionLog = {
  target: optional(
    "DECISION_LOG",
    path,
    "File to which sampled decisions are appended as JSON lines, or `stdout`. Unset: no such log.",
  ),
  rate: setting(
    "DECISION_LOG_SAMPLE",
    decimal(0, 1),
    0.01,
    "Share of the keys whose decisions are recorded, 0 to 1. All decisions of a chosen key are recorded.",
  ),
  refusalsPerSecond: setting(
    "DECISION_LOG_REFUSALS_PER_SECOND",
    int(0, 1_000_000),
    100,
    "Refused requests with other keys that are recorded for each second, divided among the threads. Each thread records at least one, except with `0`.",
  ),
};
