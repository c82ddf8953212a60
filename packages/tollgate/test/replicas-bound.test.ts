/**
 * The time after which no thread of any replica refuses from its cache any more. It counts from the answer to the reset: a
 * call that begins later than the bound must not see what the reset has changed. Two replicas have two threads each.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { isTimeUp, scaled } from "../../../tools/time-scale.ts";
import { memcached } from "./admin-stores.ts";
import { AdminClient } from "./admin-support.ts";
import { CALLERS, Replica } from "./caching-replica.ts";
import { until } from "./counters/kvstore-support.ts";
import { RedisServer } from "./servers/redis.ts";
import { subscribed } from "./subscribed.ts";

/** Milliseconds. */
const BOUND = 100;
const REVALIDATE = 400;
const ROUNDS = 5;

type Replicas = readonly [Replica, Replica];

interface Setting {
  readonly redis: RedisServer;
  readonly replicas: Replicas;
}

async function withRedis(revalidate: string, use: (setting: Setting) => Promise<void>): Promise<void> {
  await using redis = await RedisServer.start();
  const env = { BACKEND_TYPE: "kvstore", KVSTORE_URL: redis.url, LOCAL_CACHE_REVALIDATE: revalidate };
  await withReplicas(env, async (replicas) => {
    await subscribed(...replicas.map(({ tollgate }) => tollgate));
    await use({ redis, replicas });
  });
}

async function withReplicas(
  env: Readonly<Record<string, string>>,
  use: (replicas: Replicas) => Promise<void>,
): Promise<void> {
  const replicas: Replica[] = [];
  try {
    for (let index = 0; index < 2; index++) replicas.push(await Replica.start(env));
    await use(replicas as [Replica, Replica]);
  } finally {
    for (const replica of replicas) await replica.stop();
  }
}

/** Milliseconds from a bare PUBLISH until its subscriber has the message, without a Tollgate. */
async function bareRoundTrip(redis: RedisServer): Promise<number> {
  const socket = connect(redis.port, "127.0.0.1");
  try {
    socket.write("SUBSCRIBE bare\r\n");
    await once(socket, "data");
    const begun = performance.now();
    const heard = once(socket, "data");
    await redis.command("PUBLISH", "bare", "1");
    await heard;
    return performance.now() - begun;
  } finally {
    socket.destroy();
  }
}

async function reset(replica: Replica): Promise<void> {
  const target = { domain: "d", descriptor: "day=a" };
  const { status, json } = await new AdminClient(replica.tollgate).post("counters/reset", target);
  assert.equal(status, 200, JSON.stringify(json));
}

/**
 * Resets the counter and asks all threads until none refuses.
 * @returns milliseconds from the answer to the reset until the last refused call began; 0 without one
 */
async function staleFor([one, two]: Replicas): Promise<number> {
  await reset(one);
  const answered = performance.now();
  let stale = 0;
  for (;;) {
    const begun = performance.now();
    const passed = (await two.all(0)) + (await one.all(0));
    if (passed === 2 * CALLERS) return stale;
    stale = begun - answered;
    assert.ok(!isTimeUp(answered, 10_000), "the reset has not reached all threads");
  }
}

/**
 * @param bound milliseconds
 * @param redis sends the messages between the replicas; undefined without messages
 */
async function assertBound(
  context: TestContext,
  { redis, replicas }: Pick<Setting, "replicas"> & Partial<Setting>,
  bound: number,
  fill: () => Promise<void>,
) {
  for (let round = 0; round < ROUNDS; round++) {
    await fill();
    const bare = redis === undefined ? 0 : await bareRoundTrip(redis);
    const stale = await staleFor(replicas);
    const limit = bare + scaled(bound);
    context.diagnostic(
      `refused until ${stale.toFixed(1)} ms after the reset; a bare message takes ${bare.toFixed(1)} ms; limit ${limit.toFixed(0)} ms`,
    );
    assert.ok(stale <= limit, `a call was refused ${stale} ms after the reset, the limit is ${limit} ms`);
  }
}

test("a reset at one replica is seen by all threads of both within 100 ms", async (context) => {
  await withRedis("1h", (setting) =>
    assertBound(context, setting, BOUND, async () => {
      for (const replica of setting.replicas) await replica.exhaust();
    }),
  );
});

test("with the subscription cut, a reset at one replica is seen by all threads of both within LOCAL_CACHE_REVALIDATE", async (context) => {
  await withRedis(`${REVALIDATE}ms`, async (setting) => {
    const { redis, replicas } = setting;
    // Only the bare message keeps its channel.
    await redis.command("ACL", "SETUSER", "default", "resetchannels", "&bare");
    for (const { tollgate } of replicas) await tollgate.logged(/no messages of other replicas arrive/);
    await assertBound(context, setting, REVALIDATE, async () => {
      for (const replica of replicas) await replica.all(2);
      for (const replica of replicas) assert.equal(await replica.all(0), 0);
    });
  });
});

test("with memcached, a reset at one replica is seen by all threads of both within LOCAL_CACHE_REVALIDATE", async (context) => {
  const store = await memcached();
  context.after(() => store.stop());
  await withReplicas({ ...store.env, LOCAL_CACHE_REVALIDATE: `${REVALIDATE}ms` }, async (replicas) => {
    for (const { tollgate } of replicas) await tollgate.logged(/memcached has no channel between replicas/);
    const admin = new AdminClient(replicas[0].tollgate);
    await assertBound(context, { replicas }, REVALIDATE, async () => {
      await replicas[0].hit(9);
      // An increment may arrive after its answer. After the reset it would count again.
      await until("memcached has the hits", async () => {
        const { json } = await admin.counter("d", "day=a");
        return json.limits[0].count === 9;
      });
      for (const replica of replicas) assert.equal(await replica.all(0), 0);
    });
  });
});
