/** Error replies after which nothing was counted: LOADING, READONLY, OOM, NOPERM. And a server with another protocol. */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { describe, type TestContext, test } from "node:test";
import { scaled } from "../../../../tools/time-scale.ts";
import type { KvstoreStore } from "../../src/counters/kvstore/kvstore.ts";
import { RedisServer, type RedisSettings } from "../servers/redis.ts";
import { makeCount, makeRequest } from "./conformance.ts";
import { countFails, countOne, makeKvstore, type TestKvstore, until } from "./kvstore-support.ts";

async function setUp(t: TestContext, settings: RedisSettings = {}, options: Partial<TestKvstore> = {}) {
  const redis = await RedisServer.start(settings);
  const store = makeKvstore({ url: redis.url, poolSize: 2, onEmptyWait: scaled(100), ...options });
  t.after(() => store.close());
  t.after(() => redis.stop());
  await countOne(store, { stem: "warm|hour:" });
  return { redis, store };
}

const again = (store: KvstoreStore, stem: string) =>
  until("it counts again", () =>
    countOne(store, { stem }).then(
      () => true,
      () => false,
    ),
  );

describe("kvstore: error replies", () => {
  test("LOADING: fails the call, closes the connection, and counts again after the loading", async (t) => {
    const { redis, store } = await setUp(t, { config: ["enable-debug-command yes"] });
    for (let i = 0; i < 60; i++) await redis.command("SET", `filler${i}`, "x".repeat(2000));
    await redis.command("CONFIG", "SET", "loading-process-events-interval-bytes", 1024);
    await redis.command("CONFIG", "SET", "key-load-delay", 10_000);
    const loaded = redis.command("DEBUG", "RELOAD");
    const errors = new Set<string>();
    let done = false;
    void loaded.finally(() => {
      done = true;
    });
    while (!done)
      await countOne(store, { stem: "loading|hour:" }).catch((error: Error & { code: string }) => {
        assert.equal(error.code, "STORE_UNAVAILABLE");
        errors.add(error.message);
      });
    await loaded;
    assert.ok(
      [...errors].some((message) => message.includes("LOADING")),
      [...errors].join(),
    );
    await again(store, "loading|hour:");
  });

  test("READONLY: closes the connection, so that the address is looked up again", async (t) => {
    const { redis, store } = await setUp(t);
    await redis.command("REPLICAOF", "127.0.0.1", 1);
    const { error } = await countFails(store, "STORE_UNAVAILABLE", { stem: "readonly|hour:" });
    assert.match(error.message, /READONLY/);
    await until("a connection was closed", () => store.gauges.cxLocalClose > 0);
    await redis.command("REPLICAOF", "NO", "ONE");
    await again(store, "readonly|hour:");
  });

  test("OOM: counts fail, and looks succeed, also in one batch", async (t) => {
    const { redis, store } = await setUp(t, {}, { poolSize: 1 });
    const stem = "oom|hour:";
    assert.equal(await countOne(store, { stem, hits: 5 }), 5);
    await redis.command("CONFIG", "SET", "maxmemory", 1);
    const look = countOne(store, { stem: "warm|hour:", hits: 0 });
    const failed = countFails(store, "STORE_UNAVAILABLE", { stem, hits: 3 });
    assert.match((await failed).error.message, /OOM/);
    assert.equal(await look, 1);
    assert.equal(await countOne(store, { stem, hits: 0 }), 5, "nothing was counted");
    await redis.command("CONFIG", "SET", "maxmemory", 0);
    assert.equal(await countOne(store, { stem }), 6);
  });

  test("NOPERM: fails only the forbidden key", async (t) => {
    const redis = await RedisServer.start({ config: ["user ann on >anna ~mine* +@all"] });
    t.after(() => redis.stop());
    const store = makeKvstore({ url: redis.url, auth: "ann:anna", poolSize: 1 });
    t.after(() => store.close());
    const mine = countOne(store, { stem: "mine|hour:" });
    const { error } = await countFails(store, "STORE_UNAVAILABLE", { stem: "theirs|hour:" });
    assert.match(error.message, /NOPERM/);
    assert.equal(await mine, 1);
  });

  test("a failed count fails its own request only", async (t) => {
    const { redis, store } = await setUp(t, {}, { poolSize: 1 });
    const bad = makeCount({ stem: "tea|hour:" });
    await redis.command("SET", `tea|hour:${bad.windowStart}`, "tea");
    const both = Promise.resolve(store.count(makeRequest([makeCount({ stem: "good|hour:" }), bad])));
    const other = countOne(store, { stem: "good|hour:" });
    await assert.rejects(both, { code: "STORE_UNAVAILABLE" });
    assert.equal(await other, 2, "the other count of the failed request stays counted");
  });

  test("a server with another protocol fails calls without further harm", async (t) => {
    const web = createServer((socket) => {
      socket.on("error", () => {});
      socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
    t.after(() => web.close());
    const { port } = web.address() as { port: number };
    const store = makeKvstore({ url: `127.0.0.1:${port}`, onEmptyWait: scaled(20), timeout: scaled(500) });
    t.after(() => store.close());
    const { error } = await countFails(store, "STORE_UNAVAILABLE");
    assert.match(error.message, /not a Redis reply/);
  });
});
