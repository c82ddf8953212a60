import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { RedisServer } from "../servers/redis.ts";
import { type GroupFields, makeAcquire } from "./acquire-conformance.ts";
import { countOne, makeKvstore } from "./kvstore-support.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

let redis: RedisServer;
before(async () => {
  redis = await RedisServer.start();
});
after(() => redis.stop());

const BATCHES = 40;
const LONG = 500_000;

/** Bytes of the heap that work leaves behind. */
async function retainedBy(work: () => Promise<void>): Promise<number> {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  await work();
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed - before;
}

test("a connection retains no key of its earlier batches", async (t) => {
  const store = makeKvstore({ url: redis.url, poolSize: 1 });
  t.after(() => store.close());
  const round = async () => {
    // Each batch is one key shorter than the last one, and its last key is long: no later batch reuses that op.
    for (let size = BATCHES; size > 0; size--) {
      const keys = Array.from({ length: size }, (_, index) =>
        `${index}`.padEnd(index === size - 1 ? LONG : 1, "x"),
      );
      await Promise.all(keys.map((key) => countOne(store, { stem: `${key}|hour:` })));
    }
  };
  await countOne(store, { stem: "warm|hour:" });
  const used = await retainedBy(round);
  assert.ok(used < (BATCHES * LONG) / 4, `${used} bytes`);
});

test("the calls of a script share their memory, wherever they are in a batch", async (t) => {
  const store = makeKvstore({ url: redis.url, poolSize: 1 });
  t.after(() => store.close());
  const limits = Array.from({ length: 200 }, (_, index): GroupFields => {
    return { limits: [{ stem: `${index}|bucket:`, algorithm: "token_bucket" }] };
  });
  const batch = (counts: number) =>
    Promise.all([
      ...Array.from({ length: counts }, (_, index) => countOne(store, { stem: `${index}|hour:` })),
      ...limits.map((group) => store.acquire(makeAcquire([group], Date.now()))),
    ]);
  for (let warming = 0; warming < 10; warming++) await batch(BATCHES);
  const used = await retainedBy(async () => {
    for (let counts = 0; counts < BATCHES; counts++) await batch(counts);
  });
  assert.ok(used < BATCHES * limits.length * 100, `${used} bytes`);
});
