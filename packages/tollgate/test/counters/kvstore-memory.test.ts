import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { RedisServer } from "../servers/redis.ts";
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
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  await round();
  collectGarbage();
  collectGarbage();
  const used = process.memoryUsage().heapUsed - before;
  assert.ok(used < (BATCHES * LONG) / 4, `${used} bytes`);
});
