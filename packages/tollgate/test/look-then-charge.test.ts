/**
 * A caller that reads a limit (0 hits) before each piece of work and charges for it afterwards, as gateways of language
 * models do. With every store and every setting that affects counting, the limit must stop it after as many calls as the
 * Go service admits.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { counting } from "./counting-service.ts";
import { MemcachedServer } from "./servers/memcached.ts";
import { RedisServer } from "./servers/redis.ts";

interface Backend {
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<unknown>;
}

const backends: Record<string, () => Promise<Backend>> = {
  embedded: async () => ({ env: { BACKEND_TYPE: "embedded" }, stop: async () => {} }),
  kvstore: async () => {
    const redis = await RedisServer.start();
    return { env: { KVSTORE_URL: redis.url }, stop: () => redis.stop() };
  },
  objcache: async () => {
    const memcached = await MemcachedServer.start();
    const env = { BACKEND_TYPE: "objcache", OBJCACHE_HOST_PORT: `127.0.0.1:${memcached.port}` };
    return { env, stop: () => memcached.stop() };
  },
};

/** Without messages of a store, as with memcached, an entry lives a second by default. A slow test takes longer. */
const cache = { LOCAL_CACHE_SIZE_IN_BYTES: "1000000", LOCAL_CACHE_REVALIDATE: "1h" };
const settings: Record<string, Record<string, string>> = {
  plain: {},
  "over-limit cache": cache,
  "stop incrementing": { STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: "true" },
  both: { ...cache, STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: "true" },
};

for (const [name, open] of Object.entries(backends))
  for (const [setting, env] of Object.entries(settings))
    test(`read, then charge: ${name}, ${setting}`, async (t) => {
      const backend = await open();
      t.after(() => backend.stop());
      await counting({ ...backend.env, ...env, WORKERS: "1" }, async ({ ask, stats }) => {
        // The limit is 5. A read of a used-up limit is still OK, and the charge after it is the last one.
        for (let used = 0; used <= 5; used++) {
          assert.equal(await ask("day=a", 0), `OK ${5 - used}`, `look with ${used} used`);
          assert.equal(await ask("day=a", 1), used < 5 ? `OK ${4 - used}` : "OVER 0", "charge");
        }
        for (let call = 0; call < 3; call++)
          assert.equal(await ask("day=a", 0), "OVER 0", "read above the limit");
        assert.equal(await ask("day=a", 2), "OVER 0", "charge above the limit");
        // The statistics of the Go service: a lookup for each descriptor, a hit if the counter was above its limit.
        const expected =
          "LOCAL_CACHE_SIZE_IN_BYTES" in env ? { hit: 4, miss: 12, lookup: 16, known: 2 } : { known: 0 };
        const shown = async (name: string) => Number(/: (\d+)$/.exec(await stats(name))![1]);
        const { known, ...gauges } = expected;
        for (const [name, value] of Object.entries(gauges))
          assert.equal(await shown(`localcache.${name}Count`), value, name);
        assert.equal(await shown("d.day.over_limit_with_local_cache"), known);
        assert.equal(await shown("d.day.over_limit$"), 3);
        assert.equal(await shown("d.day.total_hits"), 8);
        assert.equal(await shown("d.day.within_limit"), 5);
      });
    });
