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
