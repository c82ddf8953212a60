/** Keys that are too long for a store are hashed, and every value has its own counter. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "./counters/kvstore-support.ts";
import { counting } from "./counting-service.ts";
import { MemcachedServer } from "./servers/memcached.ts";
import { RedisServer } from "./servers/redis.ts";

interface Backend {
  /** Bytes of the longest key that is not hashed. */
  readonly bytes: number;
  readonly env: Readonly<Record<string, string>>;
  /** All keys in the store. */
  keys(): Promise<string[]>;
  stop(): Promise<unknown>;
}

const backends: Record<string, () => Promise<Backend>> = {
  kvstore: async () => {
    const redis = await RedisServer.start();
    return {
      bytes: 512,
      env: { KVSTORE_URL: redis.url },
      keys: async () => ((await redis.command("KEYS", "*")) as string[]).map(String),
      stop: () => redis.stop(),
    };
  },
  objcache: async () => {
    const memcached = await MemcachedServer.start();
    return {
      bytes: 250,
      env: { BACKEND_TYPE: "memcache", MEMCACHE_HOST_PORT: `127.0.0.1:${memcached.port}` },
      keys: () => memcached.keys(),
      stop: () => memcached.stop(),
    };
  },
};

for (const [name, open] of Object.entries(backends))
  test(`long keys are hashed: ${name}`, async (t) => {
    const backend = await open();
    t.after(() => backend.stop());
    const env = { ...backend.env, CACHE_KEY_PREFIX: "here:", WORKERS: "1" };
    // `here:d|day=<value>|day:<window start>`
    const around = "here:d|day=|day:".length + 10;
    const longest = "x".repeat(backend.bytes - around);
    const [one, two, multibyte] = [`${longest}y`, `${longest}z`, "é".repeat(backend.bytes)];
    await counting(env, async ({ ask }) => {
      assert.equal(await ask(`day=${longest}`), "OK 4");
      // A read is answered after all earlier counts are in the store.
      assert.equal(await ask(`day=${longest}`, 0), "OK 4");
      await until("the longest key is listed", async () => (await backend.keys()).length > 0);
      assert.deepEqual(
        (await backend.keys()).map((key) => key.length),
        [backend.bytes],
      );
      for (const value of [one, two, multibyte]) {
        assert.equal(await ask(`day=${value}`, 3), "OK 2");
        assert.equal(await ask(`day=${value}`, 0), "OK 2");
      }
      assert.equal(await ask(`day=${"v".repeat(100_000)}`), "OK 4");
      assert.equal(await ask(`day=${"v".repeat(100_000)}`, 0), "OK 4");
      await counting(env, async ({ ask: askOther }) => {
        assert.equal(await askOther(`day=${one}`), "OK 1", "another process continues the count");
        assert.equal(await askOther(`day=${two}`, 0), "OK 2", "another value has its own counter");
      });
      let hashed: string[] = [];
      // memcached may omit items that are in use.
      await until("all keys are listed", async () => {
        hashed = (await backend.keys()).filter((key) => key.length < backend.bytes);
        return hashed.length >= 4;
      });
      assert.equal(hashed.length, 4, hashed.join("\n"));
      for (const key of hashed) assert.match(key, /^here:#[0-9a-f]{32}:day:\d{10}$/);
    });
  });

test("OBJCACHE_LONG_KEYS=fail: a call with a longer key fails", async () => {
  await using memcached = await MemcachedServer.start();
  const env = { BACKEND_TYPE: "objcache", OBJCACHE_HOST_PORT: `127.0.0.1:${memcached.port}` };
  await counting({ ...env, OBJCACHE_LONG_KEYS: "fail" }, async ({ ask }) => {
    assert.equal(await ask("day=a"), "OK 4");
    assert.match(
      await ask(`day=${"x".repeat(300)}`),
      /^status 3: a descriptor is too long for the counter store's keys$/,
    );
  });
});
