import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { greeting, parseAddress, parseAuth } from "./address.ts";

describe("who we are", () => {
  const cases: [string | undefined, ReturnType<typeof parseAuth>][] = [
    [undefined, undefined],
    ["", undefined],
    ["secret", { user: undefined, password: "secret" }],
    ["ann:secret", { user: "ann", password: "secret" }],
    ["ann:se:cr:et", { user: "ann", password: "se:cr:et" }],
    [":pa:ss", { user: undefined, password: "pa:ss" }],
    ["ann:", { user: "ann", password: "" }],
  ];
  for (const [text, credentials] of cases)
    test(JSON.stringify(text ?? null), () => assert.deepEqual(parseAuth(text), credentials));

  test("AUTH comes first, with a user only where there is one", () => {
    assert.deepEqual(greeting(undefined, ["PING"]), [["PING"]]);
    assert.deepEqual(greeting(parseAuth("p"), ["SELECT", "2"]), [
      ["AUTH", "p"],
      ["SELECT", "2"],
    ]);
    assert.deepEqual(greeting(parseAuth("u:p")), [["AUTH", "u", "p"]]);
  });
});

describe("where the store is", () => {
  test("single", () => {
    const of = (url: string, more = {}) => {
      const address = parseAddress({ url, ...more });
      assert.equal(address.type, "single");
      return address as typeof address & { type: "single" };
    };
    assert.deepEqual(of("redis:6379").endpoint, { host: "redis", port: 6379 });
    assert.deepEqual(of(" [::1]:6379 ").endpoint, { host: "::1", port: 6379 });
    assert.deepEqual(of("/run/redis.sock").endpoint, { path: "/run/redis.sock" });
    assert.deepEqual(of("redis.sock", { socketType: "unix" }).endpoint, { path: "redis.sock" });
    const full = of("rediss://ann:p%40ss@[::1]:6380/5");
    assert.deepEqual(full.endpoint, { host: "::1", port: 6380 });
    assert.deepEqual(full.credentials, { user: "ann", password: "p@ss" });
    assert.deepEqual([full.database, full.tls], [5, {}]);
    assert.deepEqual(of("redis://h").endpoint, { host: "h", port: 6379 });
    assert.equal(of("redis://h").tls, undefined);
  });

  test("sentinel and cluster", () => {
    assert.deepEqual(parseAddress({ type: "sentinel", url: "mymaster, a:1,b:2", sentinelAuth: "u:p" }), {
      type: "sentinel",
      master: "mymaster",
      sentinels: [
        { host: "a", port: 1 },
        { host: "b", port: 2 },
      ],
      credentials: undefined,
      sentinelCredentials: { user: "u", password: "p" },
      tls: undefined,
    });
    assert.deepEqual(parseAddress({ type: "cluster", url: "a:1,b:2" }), {
      type: "cluster",
      nodes: [
        { host: "a", port: 1 },
        { host: "b", port: 2 },
      ],
      credentials: undefined,
      tls: undefined,
    });
  });
});
