import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { debugAccess } from "./debug-access.ts";

const check = debugAccess({ host: "debug.internal", allowedHosts: ["Tollgate", "*.svc.cluster.local"] });
const ask = (headers: Record<string, string>, with_ = check) =>
  with_({ headers } as unknown as IncomingMessage);

for (const host of [
  "127.0.0.1:6070",
  "10.1.2.3",
  "[::1]:6070",
  "[fe80::1]",
  "localhost:6070",
  "LOCALHOST",
  "a.localhost",
  "debug.internal:6070",
  "debug.internal.",
  "tollgate",
  "TOLLGATE:80",
  "a.b.svc.cluster.local:6070",
])
  test(`Host ${host} passes`, () => assert.equal(ask({ host }), undefined));

for (const host of [
  "evil.example",
  "evil.example:6070",
  "127.0.0.1.evil.example",
  "localhost.evil.example",
  "notlocalhost",
  "svc.cluster.local",
  "evilsvc.cluster.local",
  "tollgate.evil.example",
  "[evil.example]",
  "",
  "a b",
])
  test(`Host ${JSON.stringify(host)} is refused, and the message names the setting`, () =>
    assert.match(ask({ host }) ?? "", /does not name this port: use an IP address .* DEBUG_ALLOWED_HOSTS$/));

test("HTTP/1.0 without a Host passes", () => assert.equal(ask({}), undefined));

test("DEBUG_ALLOWED_HOSTS=* allows every name", () => {
  const open = debugAccess({ host: "", allowedHosts: ["*"] });
  assert.equal(ask({ host: "evil.example" }, open), undefined);
});

for (const [origin, passes] of [
  ["http://127.0.0.1:6070", true],
  ["https://127.0.0.1:6070", true],
  ["http://127.0.0.1:6071", false],
  ["http://evil.example", false],
  ["http://127.0.0.1:6070.evil.example", false],
  ["null", false],
  ["", false],
] as const)
  test(`Origin ${JSON.stringify(origin)} ${passes ? "passes" : "is refused"}`, () =>
    assert.equal(ask({ host: "127.0.0.1:6070", origin }) === undefined, passes));
