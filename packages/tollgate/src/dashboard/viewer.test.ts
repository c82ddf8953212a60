import assert from "node:assert/strict";
import { test } from "node:test";
import { isForeign, keysFor, ruleQuery } from "./viewer.ts";

const request = (remoteAddress: string | undefined, headers: Record<string, string> = {}) => ({
  remoteAddress,
  headers: new Headers(headers),
});

for (const [address, headers, shown] of [
  ["127.0.0.1", {}, true],
  ["127.8.9.10", {}, true],
  ["::1", {}, true],
  ["::ffff:127.0.0.1", {}, true],
  ["10.0.0.1", {}, false],
  ["127.0.0.1.example", {}, false],
  ["::ffff:10.0.0.1", {}, false],
  [undefined, {}, false],
  ["127.0.0.1", { "x-forwarded-for": "127.0.0.1" }, false],
  ["127.0.0.1", { forwarded: "for=10.0.0.1" }, false],
  ["127.0.0.1", { via: "1.1 proxy" }, false],
  ["127.0.0.1", { "x-real-ip": "10.0.0.1" }, false],
] as const)
  test(`keys are ${shown ? "shown" : "hidden"} for ${address} with ${JSON.stringify(headers)}`, () => {
    assert.equal(keysFor(request(address, headers), () => false).shown, shown);
  });

test("a credential of the admin API shows keys from any address, and a wrong one hides them everywhere", () => {
  const accepts = (authorization: string | null) => authorization === "Bearer right";
  for (const [address, authorization, shown] of [
    ["10.0.0.1", "Bearer right", true],
    ["10.0.0.1", "Bearer wrong", false],
    ["127.0.0.1", "Bearer wrong", false],
  ] as const)
    assert.equal(keysFor(request(address, { authorization }), accepts).shown, shown);
});

for (const [site, foreign] of [
  [undefined, false],
  ["same-origin", false],
  ["none", false],
  ["same-site", true],
  ["cross-site", true],
] as const)
  test(`Sec-Fetch-Site: ${site}`, () => {
    assert.equal(
      isForeign(request("127.0.0.1", site === undefined ? {} : { "sec-fetch-site": site })),
      foreign,
    );
  });

for (const [query, expected] of [
  [{}, { search: "", order: "refused", offset: 0, limit: 25, rule: "" }],
  [
    { search: "a", order: "name", offset: "50", limit: "100" },
    { search: "a", order: "name", offset: 50, limit: 100, rule: "" },
  ],
  [{ limit: "100000" }, { search: "", order: "refused", offset: 0, limit: 200, rule: "" }],
  [{ limit: "0" }, { search: "", order: "refused", offset: 0, limit: 1, rule: "" }],
  [
    { limit: "-1", offset: "x", order: "__proto__" },
    { search: "", order: "refused", offset: 0, limit: 25, rule: "" },
  ],
  [{ search: ["a"] }, { search: "", order: "refused", offset: 0, limit: 25, rule: "" }],
] as const)
  test(`the query ${JSON.stringify(query)}`, () => assert.deepEqual(ruleQuery(query), expected));

test("a long search is cut", () => assert.equal(ruleQuery({ search: "x".repeat(5000) }).search.length, 200));
