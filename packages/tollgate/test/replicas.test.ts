/**
 * Replicas with one store: a counter that one replica lowers is read again by all threads of all replicas. Each replica
 * has two threads with an over-limit cache of their own.
 */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { sharedStores } from "./admin-stores.ts";
import { AdminClient, adminEnv } from "./admin-support.ts";
import { until } from "./counters/kvstore-support.ts";
import { descriptor, GrpcCaller, request } from "./grpc-caller.ts";
import { RedisServer } from "./servers/redis.ts";
import { Stoppable } from "./stopped-timers.ts";
import { subscribed } from "./subscribed.ts";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

const LIMIT = 8;
const CALLERS = 8;
const rules = `domain: d\ndescriptors: [{ key: day, rate_limit: { unit: day, requests_per_unit: ${LIMIT} } }]\n`;
/** Longer than any test: only a message can drop an entry. */
const NEVER = "1h";

class Replica {
  readonly tollgate: RunningTollgate;
  readonly #callers: readonly GrpcCaller[];

  private constructor(tollgate: RunningTollgate) {
    this.tollgate = tollgate;
    // Each has its own connection, so that the kernel distributes them over the threads.
    this.#callers = Array.from(
      { length: CALLERS },
      () => new GrpcCaller(tollgate.grpc, undefined, { "grpc.use_local_subchannel_pool": 1 }),
    );
  }

  static async start(env: Readonly<Record<string, string>>): Promise<Replica> {
    return new Replica(
      await startTollgate({
        config: { "d.yaml": rules },
        env: { ...adminEnv, WORKERS: "2", LOCAL_CACHE_SIZE_IN_BYTES: "1000000", LOG_LEVEL: "info", ...env },
      }),
    );
  }

  /** One call through each connection. @returns the number of OK answers */
  async all(hitsAddend: number, text = "day=a"): Promise<number> {
    const asked = request("d", descriptor(text, { hitsAddend }));
    const answers = await Promise.all(this.#callers.map((caller) => caller.ask(asked)));
    return answers.filter(({ overallCode }) => overallCode === 1).length;
  }

  async refund(hitsAddend: number): Promise<void> {
    await this.#callers[0]!.ask(request("d", descriptor("day=a", { hitsAddend, isNegativeHits: true })));
  }

  async #known(): Promise<number> {
    const stats = await fetch(`http://${this.tollgate.debug}/stats?filter=over_limit_with_local_cache`);
    return Number(/: (\d+)/.exec(await stats.text())?.[1] ?? 0);
  }

  /**
   * Counts until every thread refuses from its cache. The message about an earlier reset may still arrive at a thread
   * and drop its entry; the next call then reads the store and makes the entry again.
   */
  async exhaust(): Promise<void> {
    await this.all(1);
    await until("every thread refuses from its cache", async () => {
      const before = await this.#known();
      const passed = await this.all(1);
      return passed === 0 && (await this.#known()) - before === CALLERS;
    });
  }

  async stop(): Promise<void> {
    for (const caller of this.#callers) caller.close();
    assert.equal((await this.tollgate.stop()).code, 0, this.tollgate.log.join("\n"));
  }
}

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
