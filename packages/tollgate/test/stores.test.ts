import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { scaled } from "../../../tools/time-scale.ts";
import { counting } from "./counting-service.ts";
import { MemcachedServer } from "./servers/memcached.ts";
import { RedisServer } from "./servers/redis.ts";

// The service builds its stores from its settings. Tests beside each store show its behaviour.

test("KVSTORE_*: counted in the store, under the prefix, shared by two instances", async () => {
  await using redis = await RedisServer.start({ config: ["requirepass pa:ss"], auth: ["pa:ss"] });
  const env = {
    KVSTORE_URL: redis.url,
    KVSTORE_AUTH: ":pa:ss",
    CACHE_KEY_PREFIX: "here:",
    KVSTORE_POOL_SIZE: "3",
  };
  await counting(env, async ({ tollgate: one, ask, stats }) => {
    assert.equal(await ask("day=a", 2), "OK 3");
    await counting({ ...env, WORKERS: "2" }, async ({ ask: askOther }) => {
      assert.equal(await askOther("day=a"), "OK 2");
    });
    const keys = (await redis.command("KEYS", "*")) as string[];
    assert.equal(keys.length, 1);
    assert.match(String(keys[0]), /^here:d\|day=a\|day:\d+$/);
    assert.match(await stats("kvstore_pool.cx_active"), /cx_active: [1-3]$/);
    assert.match(await stats("kvstore.degraded"), /degraded: 0$/);
    assert.doesNotMatch(one.log.join("\n"), /pa:ss/);
  });
});

test("REDIS_*: the Go service's names work, and statistics are named after them", async () => {
  await using redis = await RedisServer.start();
  const env = { REDIS_SOCKET_TYPE: "tcp", REDIS_URL: redis.url, BACKEND_TYPE: "redis" };
  await counting(env, async ({ ask, stats }) => {
    assert.equal(await ask("day=a"), "OK 4");
    assert.match(await stats("redis_pool"), /ratelimit\.redis_pool\.cx_total: \d/);
    assert.equal(await stats("kvstore"), "");
  });
});

test("KVSTORE_PERSECOND: limits per second are counted in the second instance", async () => {
  await using main = await RedisServer.start();
  await using second = await RedisServer.start();
  const env = { KVSTORE_URL: main.url, KVSTORE_PERSECOND: "true", KVSTORE_PERSECOND_URL: second.url };
  await counting(env, async ({ ask, stats }) => {
    await ask("day=a");
    await ask("second=a");
    assert.equal(((await main.command("KEYS", "*second*")) as string[]).length, 0);
    assert.equal(((await second.command("KEYS", "*second*")) as string[]).length, 1);
    assert.match(await stats("kvstore_per_second_pool.cx_active"), /cx_active: [1-9]/);
  });
});

test("while a store is down, calls fail with UNAVAILABLE and the service is unhealthy; it recovers with the store", async () => {
  await using redis = await RedisServer.start();
  const env = {
    KVSTORE_URL: redis.url,
    KVSTORE_TIMEOUT: `${scaled(500)}ms`,
    KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION: "true",
  };
  await counting(env, async ({ tollgate, ask, stats }) => {
    assert.equal(await ask("day=a"), "OK 4");
    assert.equal((await fetch(`http://${tollgate.http}/healthcheck`)).status, 200);
    await redis.stop();
    await tollgate.logged(/component kvstore is unhealthy/);
    const health = await fetch(`http://${tollgate.http}/healthcheck`);
    assert.deepEqual([health.status, await health.text()], [503, "kvstore: no connection to the store\n"]);
    assert.match(
      await ask("day=a"),
      /^status 14: the counter store (is unavailable|did not answer in time)$/,
    );
    const body = JSON.stringify({ domain: "d", descriptors: [{ entries: [{ key: "day", value: "a" }] }] });
    assert.equal((await fetch(`http://${tollgate.http}/json`, { method: "POST", body })).status, 503);
    assert.match(await stats("kvstore_error"), /kvstore_error: [2-9]$/);
    await redis.restart();
    await tollgate.logged(/component kvstore is healthy/);
    for (let attempt = 0; attempt < 100 && (await ask("day=a")) !== "OK 4"; attempt++) {
      await redis.command("FLUSHALL");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.equal(await ask("day=a"), "OK 3");
  });
});

const policies: [string, string][] = [
  ["allow", "OK 0"],
  ["deny", "OVER 0"],
  ["local", "OK 4"],
];
for (const [mode, answer] of policies) {
  test(`KVSTORE_FAILURE_MODE=${mode}: the listeners open without a store, and calls are answered`, async () => {
    const env = {
      KVSTORE_URL: "127.0.0.1:1",
      KVSTORE_TIMEOUT: `${scaled(300)}ms`,
      KVSTORE_FAILURE_MODE: mode,
    };
    await counting(env, async ({ ask, stats }) => {
      assert.equal(await ask("day=a"), answer);
      assert.match(await stats("kvstore_error"), /kvstore_error: 1$/);
      assert.match(await stats("d.day.total_hits"), /total_hits: 1$/);
    });
  });
}

test("LOCAL_CACHE_SIZE_IN_BYTES: exceeded limits are refused without a call of the store", async () => {
  await using redis = await RedisServer.start();
  const env = { KVSTORE_URL: redis.url, LOCAL_CACHE_SIZE_IN_BYTES: "100000" };
  await counting(env, async ({ tollgate, ask, stats }) => {
    assert.equal(await ask("day=a", 6), "OVER 0");
    await redis.command("CONFIG", "RESETSTAT");
    for (let call = 0; call < 3; call++) assert.equal(await ask("day=a"), "OVER 0");
    assert.equal(await redis.calls("incrby"), 0);
    assert.match(await stats("d.day.over_limit_with_local_cache"), /over_limit_with_local_cache: 3$/);
    const gauges = await stats("localcache");
    assert.deepEqual(
      gauges
        .split("\n")
        .map((line) => line.replace("ratelimit.localcache.", "").replace(/: \d{10}$/, ": time")),
      [
        "averageAccessTime: time",
        "entryCount: 1",
        "evacuateCount: 0",
        "expiredCount: 0",
        "hitCount: 3",
        "lookupCount: 4",
        "missCount: 1",
        "overwriteCount: 0",
      ],
    );
    const body = JSON.stringify({ domain: "d", descriptors: [{ entries: [{ key: "day", value: "a" }] }] });
    const explained = await fetch(`http://${tollgate.debug}/explain`, {
      method: "POST",
      headers: { accept: "application/json" },
      body,
    });
    const { overallCode, descriptors } = (await explained.json()) as {
      overallCode: string;
      descriptors: { count: number }[];
    };
    assert.deepEqual(
      [overallCode, descriptors[0]!.count],
      ["OVER_LIMIT", 6],
      "explain shows what the store holds",
    );
  });
});

test("STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: a refused call increments only the counter above its limit", async () => {
  await using redis = await RedisServer.start();
  await counting(
    { KVSTORE_URL: redis.url, STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: "true" },
    async ({ ask, askAll }) => {
      assert.equal(await ask("day=a", 5), "OK 0");
      assert.deepEqual(await askAll("day=a", "week=b"), ["OVER 0", "OK 100"]);
      assert.equal(await ask("day=a", 0), "OVER 0");
      assert.equal(await ask("week=b", 1), "OK 99");
    },
  );
});

test("OBJCACHE_HOST_PORT: counted in memcached; MEMCACHE_* likewise", async () => {
  await using memcached = await MemcachedServer.start();
  const address = `127.0.0.1:${memcached.port}`;
  await counting({ BACKEND_TYPE: "objcache", OBJCACHE_HOST_PORT: address }, async ({ ask }) => {
    assert.equal(await ask("day=a"), "OK 4");
    assert.equal(await ask("day=a"), "OK 3");
  });
  // The look before the ports open counts in the statistics, too.
  const env = { BACKEND_TYPE: "memcache", MEMCACHE_HOST_PORT: address, STORE_REQUIRED_AT_START: "false" };
  await counting(env, async ({ ask, stats }) => {
    assert.equal(await ask("day=b"), "OK 4");
    assert.equal(await ask("day=b"), "OK 3");
    assert.deepEqual(
      (await stats("memcache.(multiget|keys)")).replaceAll("ratelimit.memcache.", "").split("\n"),
      ["keys_found: 1", "keys_requested: 2", "multiget.__code=error: 0", "multiget.__code=success: 2"],
    );
    assert.match(await stats("memcache"), /memcache_error: 0/);
  });
});

test("EMBEDDED_STORE_SNAPSHOT: counters survive a graceful restart", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-snapshot-"));
  const env = { BACKEND_TYPE: "embedded", EMBEDDED_STORE_SNAPSHOT: join(folder, "counters") };
  try {
    for (const [workers, expected] of [
      ["1", "OK 4"],
      ["2", "OK 3"],
      ["1", "OK 2"],
    ] as const) {
      await counting({ ...env, WORKERS: workers }, async ({ ask }) =>
        assert.equal(await ask("day=a"), expected),
      );
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("EMBEDDED_STORE_SNAPSHOT: a restart under heavy load counts every hit exactly once", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-snapshot-"));
  const env = { BACKEND_TYPE: "embedded", EMBEDDED_STORE_SNAPSHOT: join(folder, "counters"), WORKERS: "3" };
  const admitted = { now: 0 };
  try {
    for (const enough of [1000, 3000, 6000]) {
      const callers: Promise<void>[] = [];
      await counting(env, async ({ ask }) => {
        const state = Promise.withResolvers<void>();
        for (let index = 0; index < 12; index++)
          callers.push(
            (async () => {
              for (;;) {
                const answer = await ask("month=heavy");
                if (answer.startsWith("OK")) admitted.now++;
                if (admitted.now >= enough || answer === "OVER 0") state.resolve();
                if (!answer.startsWith("OK")) return;
              }
            })(),
          );
        await state.promise;
      });
      await Promise.all(callers);
    }
    assert.equal(admitted.now, 6000);
    await counting(env, async ({ ask }) => assert.equal(await ask("month=heavy"), "OVER 0"));
  } finally {
    await rm(folder, { recursive: true });
  }
});
