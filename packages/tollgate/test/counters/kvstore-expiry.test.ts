/** EXPIRE once for each key and window, and again for a fresh key or after a loss; jitter; saturation; prefix. */
import assert from "node:assert/strict";
import { after, before, describe, type TestContext, test } from "node:test";
import fc from "fast-check";
import type { KvstoreStore } from "../../src/counters/kvstore/kvstore.ts";
import { type Count, MAX_COUNT } from "../../src/counters/store.ts";
import { FaultyProxy } from "../servers/proxy.ts";
import { RedisServer } from "../servers/redis.ts";
import { makeCount, makeRequest, windowOf } from "./conformance.ts";
import { countFails, countOne, countPair, makeKvstore, type TestKvstore, until } from "./kvstore-support.ts";

describe("kvstore: keys in Redis", () => {
  let redis: RedisServer;
  before(async () => {
    redis = await RedisServer.start();
  });
  after(() => redis.stop());

  function open(t: TestContext, options: Partial<TestKvstore> = {}): KvstoreStore {
    const store = makeKvstore({ url: redis.url, poolSize: 2, ...options });
    t.after(() => store.close());
    return store;
  }
  const stemOf = (t: TestContext) => `${t.name.replaceAll(" ", "_")}|hour:`;
  const keyOf = (stem: string, size = 3600) => stem + windowOf(size);

  test("sends EXPIRE once for each key and window of a process", async (t) => {
    const stem = stemOf(t);
    const [one, other] = [open(t), open(t)];
    await redis.command("CONFIG", "RESETSTAT");
    for (let i = 0; i < 5; i++) await countOne(one, { stem });
    await Promise.all(Array.from({ length: 20 }, () => countOne(one, { stem })));
    assert.equal(await redis.calls("expire"), 1);
    await countOne(one, { stem, windowStart: windowOf(3600) + 3600 });
    assert.equal(await redis.calls("expire"), 2, "the next window");
    await countOne(other, { stem });
    await countOne(other, { stem });
    assert.equal(await redis.calls("expire"), 3, "another process");
    for (const hits of [0, -1]) await countOne(one, { stem: `${stem}never-counted:`, hits });
    assert.equal(await redis.calls("expire"), 3, "neither a look nor a refund");
    assert.equal(await redis.command("EXISTS", keyOf(`${stem}never-counted:`)), 0);
  });

  test("sets the expiry of a fresh key again", async (t) => {
    const store = open(t);
    const stem = stemOf(t);
    await countOne(store, { stem });
    await redis.command("FLUSHALL");
    await countOne(store, { stem, hits: 3 });
    await until("the expiry is set", async () => Number(await redis.command("TTL", keyOf(stem))) > 0);
  });

  test("sends EXPIRE again after a lost connection", async (t) => {
    const proxy = await FaultyProxy.start(redis.port);
    t.after(() => proxy.stop());
    const store = open(t, { url: proxy.url, poolSize: 1 });
    await countOne(store, { stem: "warm|hour:" });
    const stem = stemOf(t);
    proxy.cutAfter = ":1\r\n".length;
    // The reply to INCRBY arrived, so the call succeeds although the other reply is lost.
    assert.equal(await countOne(store, { stem }), 1);
    await redis.command("PERSIST", keyOf(stem));
    await until(
      "EXPIRE is sent again without another count of the key",
      async () => Number(await redis.command("TTL", keyOf(stem))) > 0,
    );
    await redis.command("CONFIG", "RESETSTAT");
    assert.equal(await countOne(store, { stem }), 2);
    assert.equal(await redis.calls("expire"), 0, "no further EXPIRE");
  });

  test("keys live for their window plus up to the jitter", async (t) => {
    const cases = [
      { size: 1, jitter: 0 },
      { size: 60, jitter: 0 },
      { size: 3600, jitter: 300 },
      { size: 31_536_000, jitter: 100 },
    ];
    for (const { size, jitter } of cases) {
      const store = open(t, { expirationJitterMaxSeconds: jitter });
      const seen = new Set<number>();
      for (let i = 0; i < 30; i++) {
        const stem = `${stemOf(t)}${size}-${i}:`;
        const windowStart = windowOf(size);
        const begun = performance.now();
        await countOne(store, { stem, windowSize: size, windowStart });
        const left = Number(await redis.command("PTTL", stem + windowStart));
        // A slow machine may take longer than the key lives: Redis then answers -2. It reads its clock once for each command.
        const least = size * 1000 - (performance.now() - begun) - 100;
        assert.ok(
          left > least && left <= (size + jitter) * 1000,
          `${left} ms for ${size} s, at least ${least}`,
        );
        seen.add(Math.ceil(left / 1000));
      }
      if (jitter > 0) assert.ok(seen.size > 10, `spread over ${seen.size} values`);
    }
  });

  test("counts that hold each other back set the expiry once, and not for held counters", async (t) => {
    const store = open(t);
    const stem = stemOf(t);
    const pair = (limit: number) => countPair(store, { stem, limit }, { stem: `${stem}other:` });
    await redis.command("CONFIG", "RESETSTAT");
    await pair(0);
    assert.equal(await redis.calls("expire"), 1);
    assert.equal(await redis.command("EXISTS", keyOf(`${stem}other:`)), 0);
    for (let i = 0; i < 4; i++) await pair(100);
    assert.equal(await redis.calls("expire"), 2);
    for (const key of [stem, `${stem}other:`])
      assert.ok(Number(await redis.command("TTL", keyOf(key))) > 3000, key);
  });

  test("sends scripts again that the server does not know", async (t) => {
    const store = open(t);
    const stem = stemOf(t);
    assert.equal(await countOne(store, { stem, hits: 9 }), 9);
    await redis.command("SCRIPT", "FLUSH");
    assert.equal(await countOne(store, { stem, hits: -4 }), 5);
    await redis.command("SCRIPT", "FLUSH");
    assert.deepEqual(await countPair(store, { stem }, { stem: `${stem}other:` }), [6, 1]);
  });

  test("a counter above 2^53 - 1, up to the 64-bit overflow, saturates and can decrease again", async (t) => {
    const store = open(t);
    const stem = stemOf(t);
    for (const held of [
      "9007199254740991",
      "9007199254740993",
      "9223372036854775807",
      "9223372036854775000",
    ]) {
      await redis.command("SET", keyOf(stem), held);
      assert.equal(await countOne(store, { stem, hits: 0 }), MAX_COUNT, held);
      assert.equal(await countOne(store, { stem, hits: 1000 }), MAX_COUNT, held);
      const both = [makeCount({ stem, hits: MAX_COUNT }), makeCount({ stem, hits: MAX_COUNT })];
      await store.count(makeRequest(both));
      assert.deepEqual(
        both.map((count) => count.after),
        [MAX_COUNT, MAX_COUNT],
        held,
      );
      assert.equal(await countOne(store, { stem, hits: -1 }), MAX_COUNT - 1, held);
      assert.equal(await redis.command("GET", keyOf(stem)), String(MAX_COUNT - 1));
    }
    await redis.command("SET", keyOf(stem), "-7");
    assert.equal(await countOne(store, { stem, hits: 0 }), 0, "a value that no store writes");
  });

  test("a key with another value fails only its own call", async (t) => {
    const store = open(t);
    const stem = stemOf(t);
    await redis.command("SET", keyOf(stem), "tea");
    const good = Promise.all([
      countOne(store, { stem: `${stem}b:` }),
      countOne(store, { stem: `${stem}c:` }),
    ]);
    const bad = [1, 0, -1].map((hits) => countFails(store, "STORE_UNAVAILABLE", { stem, hits }));
    const atomic = assert.rejects(countPair(store, { stem }, { stem: `${stem}d:` }), {
      code: "STORE_UNAVAILABLE",
    });
    assert.deepEqual(await good, [1, 1]);
    await Promise.all([...bad, atomic]);
  });

  test("batched requests have the same results as sequential ones", async (t) => {
    const store = open(t, { poolSize: 1 });
    const hits = fc.oneof(
      fc.integer({ min: -6, max: 6 }),
      fc.constantFrom(MAX_COUNT, -MAX_COUNT, MAX_COUNT - 2, 2 ** 40, -(2 ** 40)),
    );
    const request = fc.array(fc.record({ key: fc.integer({ min: 0, max: 2 }), hits }), {
      minLength: 1,
      maxLength: 4,
    });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 8 }), async (requests) => {
        const stem = `${stemOf(t)}${run++}:`;
        const counts = requests.map((fields) =>
          fields.map(({ key, hits }) => makeCount({ stem: `${stem}${["a", "ä", "漢"][key]}:`, hits })),
        );
        // One connection and one turn: one batch, in this order.
        await Promise.all(counts.map((one) => store.count(makeRequest(one))));
        const model = new Map<string, number>();
        for (const count of counts.flat() as Count[]) {
          const value = Math.max(0, Math.min((model.get(count.stem) ?? 0) + count.hits, MAX_COUNT));
          model.set(count.stem, value);
          assert.equal(count.after, value);
        }
      }),
      { numRuns: 150 },
    );
  });
});
