/** The over-limit caches of several threads: an entry that one thread invalidates is invalid in all threads at once. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "./counters/kvstore-support.ts";
import { descriptor, GrpcCaller, request } from "./grpc-caller.ts";
import { RedisServer } from "./servers/redis.ts";
import { subscribed } from "./subscribed.ts";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

const rules = (limit: number) => `
domain: d
descriptors:
  - key: day
    rate_limit: { unit: day, requests_per_unit: ${limit} }
`;

interface Threads {
  readonly tollgate: RunningTollgate;
  /** One read or hit through each connection. @returns the number of OK answers */
  all(hits: number): Promise<number>;
  refund(hits: number): Promise<void>;
  /** Increments the counter until every thread refuses from its cache. */
  exhaust(): Promise<void>;
}

const CALLERS = 12;

async function withThreads(
  env: Readonly<Record<string, string>>,
  use: (threads: Threads) => Promise<void>,
): Promise<void> {
  const tollgate = await startTollgate({
    config: { "d.yaml": rules(CALLERS) },
    env: { WORKERS: "3", LOCAL_CACHE_SIZE_IN_BYTES: "1000000", LOG_LEVEL: "info", ...env },
  });
  // Each has its own connection, so that the kernel distributes them over the threads.
  const callers = Array.from(
    { length: CALLERS },
    () => new GrpcCaller(tollgate.grpc, undefined, { "grpc.use_local_subchannel_pool": 1 }),
  );
  async function all(hitsAddend: number) {
    const asked = request("d", descriptor("day=a", { hitsAddend }));
    const answers = await Promise.all(callers.map((caller) => caller.ask(asked)));
    return answers.filter(({ overallCode }) => overallCode === 1).length;
  }
  async function known() {
    const stats = await fetch(`http://${tollgate.debug}/stats?filter=over_limit_with_local_cache`);
    return Number(/: (\d+)/.exec(await stats.text())?.[1] ?? 0);
  }
  try {
    if ("KVSTORE_URL" in env) await subscribed(tollgate);
    await use({
      tollgate,
      all,
      async refund(hitsAddend) {
        await callers[0]!.ask(request("d", descriptor("day=a", { hitsAddend, isNegativeHits: true })));
      },
      async exhaust() {
        await all(1);
        // A connection that moves to a thread which started late finds an empty cache there.
        await until("every thread has it in its cache", async () => {
          const before = await known();
          assert.equal(await all(1), 0);
          return (await known()) - before === CALLERS;
        });
      },
    });
  } finally {
    for (const caller of callers) caller.close();
    assert.equal((await tollgate.stop()).code, 0, tollgate.log.join("\n"));
  }
}

test("embedded: after a refund no thread refuses from its cache", async () => {
  await withThreads({}, async ({ all, refund, exhaust }) => {
    for (let round = 0; round < 10; round++) {
      await exhaust();
      await refund(1000);
      assert.equal(await all(0), CALLERS, "looks");
      assert.equal(await all(1), CALLERS, "hits");
    }
  });
});

test("kvstore: after a refund no thread refuses from its cache", async () => {
  await using redis = await RedisServer.start();
  await withThreads({ BACKEND_TYPE: "kvstore", KVSTORE_URL: redis.url }, async ({ all, refund, exhaust }) => {
    for (let round = 0; round < 10; round++) {
      await exhaust();
      await refund(1000);
      assert.equal(await all(0), CALLERS, "looks");
      assert.equal(await all(1), CALLERS, "hits");
    }
  });
});

test("after a reload every thread asks the store again, for a counter that was reset there", async () => {
  await using redis = await RedisServer.start();
  await withThreads({ BACKEND_TYPE: "kvstore", KVSTORE_URL: redis.url }, async (threads) => {
    const { tollgate, all, exhaust } = threads;
    await exhaust();
    await redis.command("FLUSHALL");
    assert.equal(await all(0), 0, "in the over-limit cache");
    const loads = () => tollgate.log.filter((line) => line.includes("Successfully loaded")).length;
    const before = loads();
    tollgate.signal("SIGHUP");
    await until("the rules are loaded", () => loads() > before);
    assert.equal(await all(1), CALLERS);
  });
});

test("a reload with a higher limit reaches every thread", async () => {
  await withThreads({}, async ({ tollgate, all, exhaust }) => {
    await exhaust();
    await writeFile(join(tollgate.config, "d.yaml"), rules(1_000_000));
    await until("every thread has the new limit", async () => (await all(0)) === CALLERS);
  });
});
