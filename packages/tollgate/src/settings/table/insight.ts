import { randomUUID } from "node:crypto";
import { bool, choice, duration, int, secret } from "../kinds/kinds.ts";
import { list } from "../kinds/list-kinds.ts";
import { Secret } from "../kinds/secret.ts";
import { computed, setting } from "../kinds/setting.ts";

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
