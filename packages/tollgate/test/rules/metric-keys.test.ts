import assert from "node:assert/strict";
import { test } from "node:test";
import { overrideMatch } from "../../src/rules/override.ts";
import { entriesOf, metricKeyOf, rulesOf } from "./helpers.ts";

/** Short form of levels: `key` or `key=value`, then flags: d detailed_metric, v value_to_metric, s share_threshold. */
function config(levels: string): string {
  const lines = ["domain: d"];
  let indent = "";
  const all = levels.split(" > ");
  for (const [index, level] of all.entries()) {
    const [descriptor = "", flags = ""] = level.split(" ");
    const at = descriptor.indexOf("=");
    lines.push(`${indent}descriptors:`);
    lines.push(`${indent}  - key: "${at < 0 ? descriptor : descriptor.slice(0, at)}"`);
    indent += "    ";
    if (at >= 0) lines.push(`${indent}value: "${descriptor.slice(at + 1)}"`);
    if (flags.includes("d")) lines.push(`${indent}detailed_metric: true`);
    if (flags.includes("v")) lines.push(`${indent}value_to_metric: true`);
    if (flags.includes("s")) lines.push(`${indent}share_threshold: true`);
    if (index === all.length - 1) lines.push(`${indent}rate_limit: { unit: minute, requests_per_unit: 1 }`);
  }
  return lines.join("\n");
}

/** rule | request | metric key | whether a part came from the request | the Go service's key, if it differs */
const rows: readonly (readonly [string, string, string, "fixed" | "from request", string?])[] = [
  // A key-only level (contract: metric key composition 1 to 3).
  ["k", "k=v", "d.k", "fixed"],
  ["k", "k=", "d.k", "fixed"],
  ["k d", "k=v", "d.k_v", "from request"],
  ["k d", "k=", "d.k", "from request", "d.k_"],
  ["k v", "k=v", "d.k_v", "from request"],
  ["k v", "k=", "d.k", "from request"],
  ["k dv", "k=v", "d.k_v", "from request"],
  ["k dv", "k=", "d.k", "from request", "d.k_"],
  // An exact level: the flags have no effect.
  ["k=v", "k=v", "d.k_v", "fixed"],
  ["k=v d", "k=v", "d.k_v", "fixed"],
  ["k=v v", "k=v", "d.k_v", "fixed"],
  ["k=v dv", "k=v", "d.k_v", "fixed"],
  // A wildcard level.
  ["k=v*", "k=v1", "d.k_v*", "fixed"],
  ["k=v*", "k=v", "d.k_v*", "fixed"],
  ["k=v* d", "k=v1", "d.k_v1", "from request"],
  ["k=v* v", "k=v1", "d.k_v1", "from request"],
  ["k=v* dv", "k=v1", "d.k_v1", "from request"],
  ["k=*", "k=", "d.k_*", "fixed"],
  ["k=* d", "k=", "d.k", "from request", "d.k_"],
  ["k=* v", "k=", "d.k", "from request"],
  ["k=a*c v", "k=abc", "d.k_abc", "from request"],
  // A shared wildcard level never shows the value (contract: 5).
  ["k=v* s", "k=v1", "d.k_v*", "fixed"],
  ["k=v* sd", "k=v1", "d.k_v", "fixed", "d.k_v*"],
  ["k=v* sv", "k=v1", "d.k_v", "fixed", "d.k_v*"],
  ["k=v* sdv", "k=v1", "d.k_v", "fixed", "d.k_v*"],
  ["k=a*c sv", "k=abc", "d.k_a", "fixed", "d.k_a*c"],
  ["k=*z s", "k=az", "d.k_*z", "fixed"],
  ["k=*z sv", "k=az", "d.k_", "fixed", "d.k_*z"],
  // Nesting: each level follows its own flags.
  ["a > b", "a=1,b=2", "d.a.b", "fixed"],
  ["a > b d", "a=1,b=2", "d.a.b_2", "from request", "d.a_1.b_2"],
  ["a > b v", "a=1,b=2", "d.a.b_2", "from request"],
  ["a d > b", "a=1,b=2", "d.a_1.b", "from request", "d.a.b"],
  ["a v > b", "a=1,b=2", "d.a_1.b", "from request"],
  ["a d > b d", "a=1,b=2", "d.a_1.b_2", "from request"],
  ["a v > b d", "a=1,b=2", "d.a_1.b_2", "from request"],
  ["a d > b v", "a=1,b=2", "d.a_1.b_2", "from request", "d.a.b_2"],
  ["a v > b v", "a=1,b=2", "d.a_1.b_2", "from request"],
  ["a v > b v", "a=,b=", "d.a.b", "from request"],
  ["a=1 > b", "a=1,b=2", "d.a_1.b", "fixed"],
  ["a=1 > b d", "a=1,b=2", "d.a_1.b_2", "from request"],
  ["a=1 > b=2", "a=1,b=2", "d.a_1.b_2", "fixed"],
  ["a > b=2", "a=1,b=2", "d.a.b_2", "fixed"],
  ["a v > b=2", "a=1,b=2", "d.a_1.b_2", "from request"],
  ["a=x* > b", "a=x1,b=2", "d.a_x*.b", "fixed"],
  ["a=x* v > b", "a=x1,b=2", "d.a_x1.b", "from request"],
  ["a=x* > b d", "a=x1,b=2", "d.a_x*.b_2", "from request", "d.a_x1.b_2"],
  ["a=x* s > b", "a=x1,b=2", "d.a_x*.b", "fixed"],
  ["a=x* sv > b v", "a=x1,b=2", "d.a_x.b_2", "from request", "d.a_x*.b_2"],
  ["a v > b=x* s", "a=1,b=x2", "d.a_1.b_x*", "from request"],
  ["a v > b=x* sd", "a=1,b=x2", "d.a_1.b_x", "from request", "d.a_1.b_x*"],
  ["a > b > c v", "a=1,b=2,c=3", "d.a.b.c_3", "from request"],
  ["a > b v > c", "a=1,b=2,c=3", "d.a.b_2.c", "from request"],
  // Examples from the Go service's documentation.
  ["k6=v* s > s v", "k6=v1,s=zz", "d.k6_v*.s_zz", "from request"],
  ["k6=v* s > t d", "k6=v1,t=zz", "d.k6_v*.t_zz", "from request"],
  ["k7 d > s", "k7=v,s=zz", "d.k7_v.s", "from request", "d.k7.s"],
  ["k10=v* vd", "k10=v1", "d.k10_v1", "from request"],
  [
    "route v > http_method v > subject_id",
    "route=draw,http_method=GET,subject_id=123",
    "d.route_draw.http_method_GET.subject_id",
    "from request",
  ],
  [
    "wild=foo* > other v > limit",
    "wild=foo1,other=bar,limit=X",
    "d.wild_foo*.other_bar.limit",
    "from request",
  ],
  // The key contains values unchanged. Reserved characters are replaced in the statistic's name.
  ["path=/foo:*:bar", "path=/foo:x:bar", "d.path_/foo:*:bar", "fixed"],
  ["remote_address v", "remote_address=50.0.0.5", "d.remote_address_50.0.0.5", "from request"],
];

for (const [rule, request, expected, origin, other] of rows) {
  const title = `metric key of ${rule}, asked with ${request}: ${expected}`;
  test(other === undefined ? title : `${title} (the Go service: ${other})`, () => {
    const match = rulesOf(config(rule)).match("d", entriesOf(request));
    assert.equal(metricKeyOf(match), expected);
    assert.equal(match?.metricFromRequest, origin === "from request");
  });
}

const overrides: readonly (readonly [string, string])[] = [
  ["", "d"],
  ["k=v", "d.k_v"],
  ["k=", "d.k"],
  ["a=1,b=,c=3", "d.a_1.b.c_3"],
];

for (const [request, expected] of overrides) {
  test(`metric key of a request's own limit for (${request}): ${expected}`, () => {
    const match = overrideMatch("d", entriesOf(request), { requestsPerUnit: 7, unit: 3 });
    assert.equal(metricKeyOf(match), expected);
    assert.equal(match.metricFromRequest, true);
    assert.equal(match.sharedValues, undefined);
    assert.deepEqual([match.rule.requestsPerUnit, match.rule.unit], [7, 3]);
    assert.deepEqual(
      [match.rule.shadowMode, match.rule.quotaMode, match.rule.unlimited],
      [false, false, false],
    );
    assert.deepEqual([match.rule.name, match.rule.replaces, match.rule.location], ["", [], undefined]);
  });
}

test("a match that does not depend on values is created once", () => {
  const rules = rulesOf(config("k=v*"));
  assert.equal(rules.match("d", entriesOf("k=v1")), rules.match("d", entriesOf("k=v2")));
});
