/** The numbers of the rules' messages over xDS. A change breaks every management server. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ScalarType } from "@bufbuild/protobuf";
import { file_ratelimit_config_ratelimit_v3_rls_conf as file } from "../protocol/gen/ratelimit/config/ratelimit/v3/rls_conf_pb.ts";

const messages: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  RateLimitConfig: { name: 1, domain: 2, descriptors: 3 },
  RateLimitDescriptor: {
    key: 1,
    value: 2,
    rate_limit: 3,
    descriptors: 4,
    shadow_mode: 5,
    detailed_metric: 6,
    quota_mode: 7,
    metadata: 8,
    rate_limits: 1001,
  },
  RateLimitPolicy: {
    unit: 1,
    requests_per_unit: 2,
    unlimited: 3,
    name: 4,
    replaces: 5,
    wide_requests_per_unit: 1001,
    unit_multiplier: 1002,
    algorithm: 1003,
    burst: 1004,
    count: 1005,
    strict: 1006,
    reservations: 1007,
    calendar: 1008,
  },
  RateLimitCalendar: { time_zone: 1, week_starts: 2 },
  RateLimitReplace: { name: 1 },
};
const enums: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  RateLimitAlgorithm: { FIXED_WINDOW: 0, SLIDING_WINDOW: 1, TOKEN_BUCKET: 2 },
  RateLimitCount: { DEFAULT: 0, ALL: 1, ACCEPTED: 2 },
  Weekday: { MONDAY: 0, TUESDAY: 1, WEDNESDAY: 2, THURSDAY: 3, FRIDAY: 4, SATURDAY: 5, SUNDAY: 6 },
  RateLimitUnit: { UNKNOWN: 0, SECOND: 1, MINUTE: 2, HOUR: 3, DAY: 4, MONTH: 5, YEAR: 6, WEEK: 7 },
};

test("messages and enumerations have the published numbers, and Tollgate's own from 1001", () => {
  const numbersOf = (all: readonly { readonly name: string; readonly number: number }[]) =>
    Object.fromEntries(all.map(({ name, number }) => [name, number]));
  assert.deepEqual(
    Object.fromEntries(file.messages.map(({ name, fields }) => [name, numbersOf(fields)])),
    messages,
  );
  assert.deepEqual(
    Object.fromEntries(file.enums.map(({ name, values }) => [name, numbersOf(values)])),
    enums,
  );
});

test("the wide number is a uint64, and a list has the policies of single limits", () => {
  const fieldOf = (message: string, name: string) =>
    file.messages.find((one) => one.name === message)!.fields.find((field) => field.name === name)!;
  assert.equal(fieldOf("RateLimitPolicy", "wide_requests_per_unit").scalar, ScalarType.UINT64);
  const limits = fieldOf("RateLimitDescriptor", "rate_limits");
  assert.deepEqual([limits.fieldKind, limits.message?.name], ["list", "RateLimitPolicy"]);
});

test("docs/rules.md has a row for each of Tollgate's own fields", () => {
  const manual = readFileSync(join(import.meta.dirname, "../../../../docs/rules.md"), "utf8");
  const rows = Array.from(
    manual.matchAll(/^\| `(RateLimit\w+)` \| (\d+) \| `(\w+)` \|/gm),
    ([, ...row]) => row,
  );
  const own = Object.entries(messages).flatMap(([message, fields]) =>
    Object.entries(fields)
      .filter(([, number]) => number > 1000)
      .map(([name, number]) => [message, String(number), name]),
  );
  assert.deepEqual(rows, own);
});
