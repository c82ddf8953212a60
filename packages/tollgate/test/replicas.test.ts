/**
 * Replicas with one store: a counter that one replica lowers is read again by all threads of all replicas. Each replica
 * has two threads with an over-limit cache of their own.
 */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { sharedStores } from "./admin-stores.ts";
import { AdminClient } from "./admin-support.ts";
import { CALLERS, Replica } from "./caching-replica.ts";
import { until } from "./counters/kvstore-support.ts";
import { RedisCluster } from "./servers/cluster.ts";
import { RedisServer } from "./servers/redis.ts";
import { Stoppable } from "./stopped-timers.ts";
import { subscribed } from "./subscribed.ts";

/** Longer than any test: only a message can drop an entry. */
const NEVER = "1h";

/** Waits until no thread of a replica refuses. @returns milliseconds */
async function passes(replica: Replica): Promise<number> {
  const begun = performance.now();
  await until("all threads read the store again", async () => (await replica.all(0)) === CALLERS);
  return performance.now() - begun;
}

for (const [name, open] of Object.entries(sharedStores))
  describe(`two replicas of two threads with ${name}`, () => {
    test("a reset and a refund at one replica reach all threads of both, although no timer ends", async (context: TestContext) => {
      const store = await open();
      const replicas: Replica[] = [];
      const timers = new Stoppable();
      try {
        for (let index = 0; index < 2; index++)
          replicas.push(await Replica.start({ ...store.env, ...timers.env, LOCAL_CACHE_REVALIDATE: NEVER }));
        const [one, two] = replicas as [Replica, Replica];
        const admin = new AdminClient(one.tollgate);
        await subscribed(one.tollgate, two.tollgate);
        for (let round = 0; round < 3; round++) {
          for (const replica of replicas) await replica.exhaust();
          // Without timers, only the message itself takes time.
          await timers.whileStopped(async () => {
            const { status, json } = await admin.post("counters/reset", { domain: "d", descriptor: "day=a" });
            assert.equal(status, 200, JSON.stringify(json));
            assert.equal(await one.all(0), CALLERS, "the own threads at once");
            context.diagnostic(`reset: seen by the other replica after ${(await passes(two)).toFixed(1)} ms`);
          });
          for (const replica of replicas) await replica.exhaust();
          await timers.whileStopped(async () => {
            await two.refund(1000);
            assert.equal(await two.all(0), CALLERS, "the own threads at once");
            context.diagnostic(
              `refund: seen by the other replica after ${(await passes(one)).toFixed(1)} ms`,
            );
          });
        }
      } finally {
        for (const replica of replicas) await replica.stop();
        await store.stop();
      }
    });
  });

test("the message about a reset is sent before its answer", async () => {
  await using redis = await RedisServer.start();
  const one = await Replica.start({ BACKEND_TYPE: "kvstore", KVSTORE_URL: redis.url });
  try {
    const admin = new AdminClient(one.tollgate);
    await subscribed(one.tollgate);
    for (let round = 0; round < 5; round++) {
      const before = await redis.calls("publish");
      const { status } = await admin.post("counters/reset", { domain: "d", descriptor: "day=a" });
      assert.equal(status, 200);
      assert.equal((await redis.calls("publish")) - before, 1);
    }
  } finally {
    await one.stop();
  }
});

describe("without a subscription", () => {
  test("without messages, entries live at most LOCAL_CACHE_REVALIDATE, a poll finds an override, and the log has one warning", async () => {
    await using redis = await RedisServer.start();
    const env = { BACKEND_TYPE: "kvstore", KVSTORE_URL: redis.url };
    // The server no longer allows any channel, and ends the subscriptions.
    await redis.command("ACL", "SETUSER", "default", "resetchannels");
    const one = await Replica.start({ ...env, LOCAL_CACHE_REVALIDATE: "400ms" });
    const two = await Replica.start({ ...env, LOCAL_CACHE_REVALIDATE: "400ms" });
    const bound = /no messages of other replicas arrive \(NOPERM.*live at most 400 ms/;
    try {
      for (const { tollgate } of [one, two]) await tollgate.logged(bound);
      for (let round = 0; round < 3; round++) {
        await one.all(2);
        await two.all(2);
        assert.equal(await two.all(0), 0);
        const { status } = await new AdminClient(one.tollgate).post("counters/reset", {
          domain: "d",
          descriptor: "day=a",
        });
        assert.equal(status, 200);
        await passes(two);
      }
      await two.all(2);
      assert.equal(await two.all(0), 0);
      const raised = { domain: "d", descriptor: "day=a", requestsPerUnit: 1_000_000 };
      assert.equal((await new AdminClient(one.tollgate).put("overrides/raised", raised)).status, 200);
      await passes(two);
      assert.equal(two.tollgate.log.filter((line) => bound.test(line)).length, 1, "one warning");
      await redis.command("ACL", "SETUSER", "default", "allchannels");
      for (const { tollgate } of [one, two]) await tollgate.logged(/messages of other replicas arrive again/);
      await subscribed(one.tollgate, two.tollgate);
    } finally {
      await one.stop();
      await two.stop();
    }
  });

  test("a cluster without shard channels, as before Redis 7: entries live at most LOCAL_CACHE_REVALIDATE", async () => {
    const config = ["SSUBSCRIBE", "SPUBLISH"].map((command) => `rename-command ${command} ""`);
    await using cluster = await RedisCluster.start(3, 0, { config });
    const env = {
      BACKEND_TYPE: "kvstore",
      KVSTORE_TYPE: "cluster",
      KVSTORE_URL: cluster.url,
      LOCAL_CACHE_REVALIDATE: "400ms",
    };
    const replicas = [await Replica.start(env), await Replica.start(env)] as const;
    const [one, two] = replicas;
    try {
      const bound = /no messages of other replicas arrive \(ERR unknown command.*live at most 400 ms/;
      for (const { tollgate } of replicas) await tollgate.logged(bound);
      for (let round = 0; round < 2; round++) {
        for (const replica of replicas) await replica.all(2);
        for (const replica of replicas) assert.equal(await replica.all(0), 0);
        const target = { domain: "d", descriptor: "day=a" };
        assert.equal((await new AdminClient(one.tollgate).post("counters/reset", target)).status, 200);
        for (const replica of replicas) await passes(replica);
      }
      assert.equal(two.tollgate.log.filter((line) => bound.test(line)).length, 1, "one warning");
    } finally {
      for (const replica of replicas) await replica.stop();
    }
  });

  test("a server that hangs ends the subscription, and all entries are dropped when it answers again", async () => {
    await using redis = await RedisServer.start();
    const env = { BACKEND_TYPE: "kvstore", KVSTORE_URL: redis.url, LOCAL_CACHE_REVALIDATE: NEVER };
    const one = await Replica.start(env);
    try {
      await subscribed(one.tollgate);
      await one.exhaust();
      process.kill(redis.pid, "SIGSTOP");
      await one.tollgate.logged(/no messages of other replicas arrive \(.*(?:does not answer|no answer)/);
      process.kill(redis.pid, "SIGCONT");
      await one.tollgate.logged(/messages of other replicas arrive again/);
      await subscribed(one.tollgate);
      // The counter itself is still above its limit.
      await one.exhaust();
      await redis.command("FLUSHALL");
      assert.equal(await one.all(0), 0, "learned again");
    } finally {
      process.kill(redis.pid, "SIGCONT");
      await one.stop();
    }
  });

  test("all entries are dropped when a cut subscription is live again", async () => {
    await using redis = await RedisServer.start();
    const env = { BACKEND_TYPE: "kvstore", KVSTORE_URL: redis.url, LOCAL_CACHE_REVALIDATE: NEVER };
    const one = await Replica.start(env);
    try {
      await subscribed(one.tollgate);
      await one.exhaust();
      // No message tells of this change.
      await redis.command("FLUSHALL");
      assert.equal(await one.all(0), 0, "the entries are still there");
      await redis.command("CLIENT", "KILL", "TYPE", "pubsub");
      await passes(one);
    } finally {
      await one.stop();
    }
  });
});
