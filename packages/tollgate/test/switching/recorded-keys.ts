/**
 * Keys that the Go service (its commit b8d893f of May 2026) wrote to Redis, recorded with `KEYS *` after one call for
 * each row. Its later versions use the same keys.
 */
import { type Descriptor, type LimitOverride, Unit } from "../../src/protocol/messages.ts";
import { descriptor } from "../grpc-caller.ts";

export const rules = `domain: d
descriptors:
  - { key: second, rate_limit: { unit: second, requests_per_unit: 100 } }
  - { key: minute, rate_limit: { unit: minute, requests_per_unit: 100 } }
  - { key: hour, rate_limit: { unit: hour, requests_per_unit: 100 } }
  - { key: day, rate_limit: { unit: day, requests_per_unit: 100 } }
  - { key: week, rate_limit: { unit: week, requests_per_unit: 100 } }
  - { key: month, rate_limit: { unit: month, requests_per_unit: 100 } }
  - { key: year, rate_limit: { unit: year, requests_per_unit: 100 } }
  - key: outer
    descriptors:
      - { key: inner, rate_limit: { unit: hour, requests_per_unit: 100 } }
  - { key: file, value: "files/*", share_threshold: true, rate_limit: { unit: hour, requests_per_unit: 100 } }
  - key: tree
    value: "a*"
    share_threshold: true
    descriptors:
      - { key: leaf, rate_limit: { unit: hour, requests_per_unit: 100 } }
  - { key: wild, value: "x*", rate_limit: { unit: hour, requests_per_unit: 100 } }
  - { key: exact, value: one, rate_limit: { unit: hour, requests_per_unit: 100 } }
`;

/** Seconds since the epoch at the time of the recording. */
export const recordedAt = 1_795_345_366;

export interface RecordedKey {
  readonly name: string;
  readonly descriptor: Descriptor;
  readonly unit: Unit;
  /** The key without `CACHE_KEY_PREFIX`. With the prefix `p:` each key began with `p:` and was otherwise the same. */
  readonly key: string;
  /** The Go service cannot count it in memcached. */
  readonly redisOnly?: true;
}

const long = `long${"x".repeat(600)}`;

/** Name, descriptor, unit, key. */
const rows: readonly (readonly [string, Descriptor, Unit, string, true?])[] = [
  ["second", descriptor("second=v"), Unit.SECOND, "d_second_v_1795345366"],
  ["minute", descriptor("minute=v"), Unit.MINUTE, "d_minute_v_1795345320"],
  ["hour", descriptor("hour=v"), Unit.HOUR, "d_hour_v_1795345200"],
  ["day", descriptor("day=v"), Unit.DAY, "d_day_v_1795305600"],
  ["week", descriptor("week=v"), Unit.WEEK, "d_week_v_1795046400"],
  ["month", descriptor("month=v"), Unit.MONTH, "d_month_v_1793664000"],
  ["year", descriptor("year=v"), Unit.YEAR, "d_year_v_1766016000"],
  ["an empty value", descriptor("hour="), Unit.HOUR, "d_hour__1795345200"],
  ["two entries", descriptor("outer=o,inner=i"), Unit.HOUR, "d_outer_o_inner_i_1795345200"],
  ["two empty values", descriptor("outer=,inner="), Unit.HOUR, "d_outer__inner__1795345200"],
  ["share_threshold", descriptor("file=files/one"), Unit.HOUR, "d_file_files/*_1795345200"],
  ["the pattern as a value", descriptor("file=files/*"), Unit.HOUR, "d_file_files/*_1795345200"],
  [
    "share_threshold above the limit",
    descriptor("tree=abc,leaf=l"),
    Unit.HOUR,
    "d_tree_a*_leaf_l_1795345200",
  ],
  ["a wildcard", descriptor("wild=xyz"), Unit.HOUR, "d_wild_xyz_1795345200"],
  ["an explicit value", descriptor("exact=one"), Unit.HOUR, "d_exact_one_1795345200"],
  ["separators", descriptor("hour=a_b|c=d%{e}"), Unit.HOUR, "d_hour_a_b|c=d%{e}_1795345200"],
  ["white space and control", descriptor("hour= f\n\u0001"), Unit.HOUR, "d_hour_ f\n\u0001_1795345200", true],
  ["other scripts", descriptor("hour=é中\u{1f600}"), Unit.HOUR, "d_hour_é中\u{1f600}_1795345200"],
  [
    "white space beyond ASCII",
    descriptor("hour=\u00a0\u2028"),
    Unit.HOUR,
    "d_hour_\u00a0\u2028_1795345200",
    true,
  ],
  ["more than 512 bytes", descriptor(`hour=${long}`), Unit.HOUR, `d_hour_${long}_1795345200`, true],
  ["an override", override("free=v", Unit.MINUTE), Unit.MINUTE, "d_free_v_1795345320"],
  ["an override for a day", override("free=v", Unit.DAY), Unit.DAY, "d_free_v_1795305600"],
  ["an override, two entries", override("free=v,more=w", Unit.WEEK), Unit.WEEK, "d_free_v_more_w_1795046400"],
  [
    "an override without entries",
    { ...override("free=v", Unit.HOUR), entries: [] },
    Unit.HOUR,
    "d_1795345200",
  ],
];

export const recordedKeys: readonly RecordedKey[] = rows.map(([name, one, unit, key, redisOnly]) => ({
  name,
  descriptor: one,
  unit,
  key,
  ...(redisOnly && { redisOnly }),
}));

function override(text: string, unit: Unit): Descriptor {
  const limit: LimitOverride = { requestsPerUnit: 7, unit };
  return descriptor(text, { limit });
}
