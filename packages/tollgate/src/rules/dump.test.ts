import assert from "node:assert/strict";
import { test } from "node:test";
import { rulesOf } from "../../test/rules/helpers.ts";
import { dumpJson, dumpText } from "./dump.ts";

const rules = rulesOf(`
domain: foo
descriptors:
  - { key: k1, value: v1, rate_limit: { unit: minute, requests_per_unit: 10 } }
  - key: j1
    value: v2
    descriptors:
      - key: j2
        value: v2
        shadow_mode: true
        quota_mode: true
        rate_limit: { unit: day, requests_per_unit: 15 }
  - key: w
    value: "a*"
    share_threshold: true
    value_to_metric: true
    detailed_metric: true
    metadata: { team: edge }
    rate_limit: { unit: hour, requests_per_unit: 0, name: n, replaces: [{ name: m }] }
  - { key: "line\\nend", rate_limit: { unlimited: true, name: m } }
`);

test("/rlconfig: a sorted line for each limit, with the optional fields that are set", () => {
  assert.equal(
    dumpText(rules),
    `foo.j1_v2.j2_v2: unit=DAY requests_per_unit=15, shadow_mode: true, quota_mode: true
foo.k1_v1: unit=MINUTE requests_per_unit=10, shadow_mode: false, quota_mode: false
foo.line\\u000aend: unit=UNKNOWN requests_per_unit=0, shadow_mode: false, quota_mode: false, unlimited: true, name: m
foo.w_a*: unit=HOUR requests_per_unit=0, shadow_mode: false, quota_mode: false, name: n, replaces: ["m"], detailed_metric: true, value_to_metric: true, share_threshold: true, metadata: {"team":"edge"}
`,
  );
});

test("/rlconfig as JSON has the same limits, with their locations", () => {
  const dump = dumpJson(rules);
  assert.deepEqual(dump.domains, ["foo"]);
  assert.deepEqual(dump.rules[0], {
    key: "foo.j1_v2.j2_v2",
    unit: "DAY",
    requests_per_unit: 15,
    shadow_mode: true,
    quota_mode: true,
    location: "rules.yaml:8:9",
  });
  assert.deepEqual(
    dump.rules.map(({ key }) => key),
    ["foo.j1_v2.j2_v2", "foo.k1_v1", "foo.line\nend", "foo.w_a*"],
  );
});

test("/rlconfig is empty before the first load", () => {
  assert.equal(dumpText(undefined), "");
  assert.deepEqual(dumpJson(undefined), { domains: [], rules: [] });
});

test("/rlconfig shows each setting of a limit that differs from its default", () => {
  const limits = rulesOf(`
domain: d
descriptors:
  - { key: a, rate_limit: { unit: minute, unit_multiplier: 15, requests_per_unit: 5000000000, count: accepted } }
  - { key: b, rate_limit: { unit: day, requests_per_unit: 5, strict: true, reservations: true, name: n } }
  - { key: c, rate_limit: { unit: week, requests_per_unit: 5, calendar: { week_starts: sunday } } }
  - { key: d, rate_limit: { unit: month, requests_per_unit: 5, calendar: { time_zone: asia/tokyo, week_starts: friday } } }
  - { key: e, rate_limit: { unit: day, unit_multiplier: 1, requests_per_unit: 5, algorithm: fixed_window, count: all } }
  - { key: f, rate_limit: { unit: day, requests_per_unit: 5, algorithm: sliding_window } }
  - { key: g, rate_limit: { unit: day, requests_per_unit: 5, algorithm: token_bucket } }
  - key: h
    shadow_mode: true
    rate_limits:
      - { unit: second, requests_per_unit: 5, algorithm: token_bucket, burst: 7, name: fast }
      - { unit: day, requests_per_unit: 90, count: accepted, calendar: { time_zone: Europe/Berlin } }
`);
  const flags = { shadow_mode: false, quota_mode: false };
  const day = { unit: "DAY", requests_per_unit: 5 };
  assert.deepEqual(
    dumpJson(limits).rules.map(({ location: _, ...rule }) => rule),
    [
      {
        key: "d.a",
        unit: "MINUTE",
        requests_per_unit: 5_000_000_000,
        ...flags,
        unit_multiplier: 15,
        count: "accepted",
      },
      { key: "d.b", ...day, ...flags, strict: true, reservations: true, name: "n" },
      {
        key: "d.c",
        unit: "WEEK",
        requests_per_unit: 5,
        ...flags,
        calendar: { time_zone: "UTC", week_starts: "sunday" },
      },
      {
        key: "d.d",
        unit: "MONTH",
        requests_per_unit: 5,
        ...flags,
        calendar: { time_zone: "Asia/Tokyo" },
      },
      { key: "d.e", ...day, ...flags },
      { key: "d.f", ...day, ...flags, algorithm: "sliding_window" },
      { key: "d.g", ...day, ...flags, algorithm: "token_bucket", burst: 5 },
      {
        key: "d.h",
        unit: "SECOND",
        requests_per_unit: 5,
        shadow_mode: true,
        quota_mode: false,
        rate_limits: [
          { unit: "SECOND", requests_per_unit: 5, algorithm: "token_bucket", burst: 7, name: "fast" },
          { unit: "DAY", requests_per_unit: 90, calendar: { time_zone: "Europe/Berlin" } },
        ],
      },
    ],
  );
});
