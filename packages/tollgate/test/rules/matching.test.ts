import assert from "node:assert/strict";
import { test } from "node:test";
import { entriesOf, rulesOf } from "./helpers.ts";

/** Each limit has its own `requests_per_unit`, to identify it. */
const text = `
domain: d
descriptors:
  - key: p
    rate_limit: { unit: minute, requests_per_unit: 1 }
  - { key: p, value: "a*", rate_limit: { unit: minute, requests_per_unit: 2 } }
  - { key: p, value: "ab*", rate_limit: { unit: minute, requests_per_unit: 3 } }
  - { key: p, value: abc, rate_limit: { unit: minute, requests_per_unit: 4 } }
  - { key: p, value: "*z", rate_limit: { unit: minute, requests_per_unit: 5 } }
  - { key: q, value: "*", rate_limit: { unit: minute, requests_per_unit: 6 } }
  - { key: w, value: only }
  - key: a
    value: x
    rate_limit: { unit: minute, requests_per_unit: 7 }
    descriptors:
      - { key: b, rate_limit: { unit: minute, requests_per_unit: 8 } }
  - key: a
    descriptors:
      - { key: c, rate_limit: { unit: minute, requests_per_unit: 9 } }
      - { key: c, value: "1", rate_limit: { unit: minute, requests_per_unit: 10 } }
  - { key: a_b, rate_limit: { unit: minute, requests_per_unit: 11 } }
  - { key: wild, value: "foo*", rate_limit: { unit: minute, requests_per_unit: 12 } }
  - { key: k_, rate_limit: { unit: minute, requests_per_unit: 13 } }
  - { key: "st*", rate_limit: { unit: minute, requests_per_unit: 14 } }
  - { key: m, value: "/*/users/*", rate_limit: { unit: minute, requests_per_unit: 15 } }
  - { key: m, value: "/*/users/*/posts", rate_limit: { unit: minute, requests_per_unit: 16 } }
  - { key: m, value: "/v1/*", rate_limit: { unit: minute, requests_per_unit: 17 } }
  - { key: m, value: "*aba*", rate_limit: { unit: minute, requests_per_unit: 18 } }
  - { key: t, value: "ab*ba", rate_limit: { unit: minute, requests_per_unit: 19 } }
`;

/** request | the limit, or undefined | why */
const rows: readonly (readonly [string, number | undefined, string])[] = [
  ["p=abc", 4, "an exact value comes before every wildcard"],
  ["p=abd", 3, "the longest prefix wins (the Go service takes the first in the file)"],
  ["p=ab", 3, "`*` also matches the empty text"],
  ["p=axz", 2, "a longer prefix beats a suffix"],
  ["p=xz", 5, "a wildcard may be the first character"],
  ["p=az", 2, "more literal characters before the first `*`"],
  ["p=zzz1", 1, "key only, after the wildcards"],
  ["p=", 1, "a key-only rule matches the empty value"],
  ["p=a*", 2, "a value that looks like a pattern is a value"],
  ["q=", 6, "`*` alone matches the empty value"],
  ["q=anything", 6, "`*` alone matches all"],
  ["q_r=v", undefined, "a pattern of one key is never compared with another key"],
  ["P=abc", undefined, "keys are case-sensitive"],
  ["p=ABC", 1, "values are case-sensitive"],
  ["w=only", undefined, "whitelisted: no rate_limit and nothing nested"],
  ["w=other", undefined, "no rule"],
  ["p=abc,x=y", undefined, "deeper than the configuration"],
  ["a=x", 7, "a descriptor with nested ones may have its own limit"],
  ["a=x,b=1", 8, "two levels"],
  ["a=x,c=1", undefined, "no way back from the exact node to its key-only sibling"],
  ["a=y", undefined, "a placeholder has no limit of its own"],
  ["a=y,c=2", 9, "below a key-only placeholder"],
  ["a=y,c=1", 10, "exact before key-only at the second level"],
  ["a=y,b=1", undefined, "no such key below the key-only node"],
  ["a=b", undefined, "the rule `a_b` is not hit by key `a` with value `b`"],
  ["a_b=z", 11, "the rule `a_b` is hit by its key"],
  ["wild_foo=bar", undefined, "nor is `wild=foo*` by key `wild_foo`"],
  ["wild=foobar", 12, "a trailing wildcard"],
  ["k=", undefined, "nor `k_` by key `k` with an empty value"],
  ["k_=", 13, "`k_` by its own key"],
  ["stuff=v", undefined, "`*` in a key is a character"],
  ["st*=v", 14, "`*` in a key is a character"],
  ["m=/v2/users/7", 15, "wildcards in the middle"],
  ["m=/v2/users/7/posts", 16, "more literal characters in all"],
  ["m=/v1/users/7/posts", 17, "more literal characters before the first `*`"],
  ["m=xabay", 18, "a part anywhere"],
  ["m=/x", undefined, "no wildcard fits"],
  ["t=abba", 19, "prefix and suffix may meet"],
  ["t=aba", undefined, "but they may not overlap"],
  ["", undefined, "no entries"],
];

const rules = rulesOf(text);
for (const [request, expected, why] of rows) {
  test(`${request || "(no entries)"} is ${expected ?? "not limited"}: ${why}`, () => {
    assert.equal(rules.match("d", entriesOf(request))?.rule.requestsPerUnit, expected);
  });
}

test("an unknown domain has no rules", () => {
  assert.equal(rules.hasDomain("e"), false);
  assert.equal(rules.hasDomain("d"), true);
  assert.equal(rules.match("e", entriesOf("p=abc")), undefined);
  assert.equal(rules.match("__proto__", entriesOf("constructor=toString")), undefined);
});

test("equally specific wildcards are tried in the order of the file", () => {
  const pair = (first: string, second: string) =>
    rulesOf(`
domain: d
descriptors:
  - { key: k, value: "${first}", rate_limit: { unit: day, requests_per_unit: 1 } }
  - { key: k, value: "${second}", rate_limit: { unit: day, requests_per_unit: 2 } }`);
  assert.equal(pair("*ab*", "*bc*").match("d", entriesOf("k=abc"))?.rule.requestsPerUnit, 1);
  assert.equal(pair("*bc*", "*ab*").match("d", entriesOf("k=abc"))?.rule.requestsPerUnit, 1);
});

test("share_threshold replaces the value by the pattern at its own level, also for deeper limits", () => {
  const shared = rulesOf(`
domain: d
descriptors:
  - key: a
    descriptors:
      - key: files
        value: "files/*"
        share_threshold: true
        rate_limit: { unit: day, requests_per_unit: 1 }
        descriptors:
          - { key: user, rate_limit: { unit: day, requests_per_unit: 2 } }
      - { key: files, value: files/own, rate_limit: { unit: day, requests_per_unit: 3 } }`);
  const sharedOf = (request: string) => shared.match("d", entriesOf(request))?.sharedValues;
  assert.deepEqual(sharedOf("a=1,files=files/x"), [undefined, "files/*"]);
  assert.deepEqual(sharedOf("a=1,files=files/x,user=u"), [undefined, "files/*", undefined]);
  assert.equal(sharedOf("a=1,files=files/own"), undefined);
});
