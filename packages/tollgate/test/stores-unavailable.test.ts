/** Health and failure policies of a running service while its real stores are stopped, killed and restarted. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { scaled } from "../../../tools/time-scale.ts";
import { type Ask, counting } from "./counting-service.ts";
import { MemcachedServer } from "./servers/memcached.ts";
import { RedisServer } from "./servers/redis.ts";

/** Calls until the answer matches. */
async function askUntil(ask: Ask, text: string, wanted: RegExp, hits?: number): Promise<string> {
  const latest = Date.now() + scaled(15_000);
  for (;;) {
    const answer = await ask(text, hits);
    if (wanted.test(answer)) return answer;
    assert.ok(Date.now() < latest, `still ${answer}, not ${wanted}`);
    await sleep(20);
  }
}

/** The answers of the first calls, and of calls while the store is known to be unavailable. */
const modes: Record<string, RegExp> = {
  error: /^status 14: the counter store (is unavailable|did not answer in time)$/,
  allow: /^OK 0$/,
  deny: /^OVER 0$/,
  local: /^OK 4$/,
};

const stores = {
  KVSTORE: async (t: TestContext) => {
    const redis = await RedisServer.start();
    t.after(() => redis.stop());
    return {
      server: redis,
      env: {
        KVSTORE_URL: redis.url,
        KVSTORE_TIMEOUT: `${scaled(150)}ms`,
        KVSTORE_POOL_ON_EMPTY_WAIT_DURATION: `${scaled(50)}ms`,
      },
    };
  },
  OBJCACHE: async (t: TestContext) => {
    const memcached = await MemcachedServer.start();
    t.after(() => memcached.stop());
    return { server: memcached, env: { BACKEND_TYPE: "objcache", OBJCACHE_HOST_PORT: memcached.url } };
  },
};

for (const [prefix, open] of Object.entries(stores))
  for (const [mode, answer] of Object.entries(modes))
    test(`${prefix}_FAILURE_MODE=${mode}: a store that hangs, one that was killed, and one that has recovered`, async (t) => {
      const { server, env } = await open(t);
      const kind = prefix.toLowerCase();
      await counting(
        { ...env, [`${prefix}_FAILURE_MODE`]: mode, WORKERS: "1" },
        async ({ ask, stats, tollgate }) => {
          assert.equal(await ask("day=a", 2), "OK 3");
          await server.pause();
          for (let call = 0; call < 8; call++) assert.match(await ask(`day=hangs-${call}`), answer);
          await tollgate.logged(
            new RegExp(
              `the ${kind} store fails .* until it is back \\(docs: errors\\.md#STORE_UNAVAILABLE\\)`,
            ),
          );
          assert.match(await stats(`${kind}.degraded`), /degraded: 1$/);
          assert.match(await ask("day=not-asked"), answer);
          server.resume();
          for (let probe = 0; /degraded: 1$/.test(await stats(`${kind}.degraded`)); probe++) {
            assert.ok(probe < 1000, "the store is not tried again");
            await ask("week=probe");
            await sleep(10);
          }
          await tollgate.logged(new RegExp(`the ${kind} store is back after`));
          assert.equal(await ask("day=a", 0), "OK 3", "the earlier counts are in the store");
          await server.stop();
          for (let call = 0; call < 8; call++) assert.match(await ask(`day=gone-${call}`), answer);
          if (mode === "local") {
            assert.deepEqual(
              [await ask("day=l", 5), await ask("day=l")],
              ["OK 0", "OVER 0"],
              "exact meanwhile",
            );
          }
          await server.restart();
          await askUntil(ask, "day=a", /^OK 4$/, 1);
          const errors = Number(/_error: (\d+)$/.exec(await stats(`${kind}_error`))![1]);
          assert.ok(errors >= 17, `each call that it failed is counted, under every policy: ${errors}`);
          assert.match(await stats("d.day.total_hits"), /total_hits: [1-9]\d*$/);
        },
      );
    });

test("KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION: either instance is unhealthy without connections, and healthy with the next one", async (t) => {
  const [main, second] = await Promise.all([RedisServer.start(), RedisServer.start()]);
  t.after(() => Promise.all([main.stop(), second.stop()]));
  const env = {
    KVSTORE_URL: main.url,
    KVSTORE_PERSECOND: "true",
    KVSTORE_PERSECOND_URL: second.url,
    KVSTORE_PERSECOND_POOL_ON_EMPTY_WAIT_DURATION: `${scaled(20)}ms`,
    KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION: "true",
    LOG_LEVEL: "info",
  };
  await counting(env, async ({ tollgate, ask, stats }) => {
    async function health() {
      const answer = await fetch(`http://${tollgate.http}/healthcheck`);
      return [answer.status, await answer.text()];
    }
    async function becomes(status: number, text: string) {
      const latest = Date.now() + scaled(10_000);
      while ((await health())[1] !== text && Date.now() < latest) await sleep(20);
      assert.deepEqual(await health(), [status, text]);
    }
    await ask("second=a");
    await becomes(200, "OK");
    await second.stop();
    await becomes(503, "kvstore_per_second: no connection to the store\n");
    for (let call = 0; call < 8; call++) assert.match(await ask("second=a"), /^status 14/);
    await tollgate.logged(/per-second instance: the kvstore store fails/);
    assert.match(await stats("kvstore.degraded"), /degraded: 1$/);
    assert.equal(await ask("day=a"), "OK 4", "limits of other units are counted meanwhile");
    await main.stop();
    await becomes(
      503,
      "kvstore: no connection to the store\nkvstore_per_second: no connection to the store\n",
    );
    await second.restart();
    await becomes(503, "kvstore: no connection to the store\n");
    await main.restart();
    await becomes(200, "OK");
    await tollgate.logged(/per-second instance: no connection/);
  });
});

test("without KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION the service is healthy without a store", async () => {
  await counting({ KVSTORE_URL: "127.0.0.1:1", STORE_REQUIRED_AT_START: "false" }, async ({ tollgate }) => {
    const answer = await fetch(`http://${tollgate.http}/healthcheck`);
    assert.deepEqual([answer.status, await answer.text()], [200, "OK"]);
  });
});
