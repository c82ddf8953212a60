/** KVSTORE_TYPE=sentinel: conformance, manual failover, failover from a hanging master, unavailable sentinels. */
import assert from "node:assert/strict";
import { after, before, describe, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { scaled } from "../../../../tools/time-scale.ts";
import type { KvstoreStore } from "../../src/counters/kvstore/kvstore.ts";
import { SentinelGroup } from "../servers/sentinel.ts";
import { storeConformance, windowOf } from "./conformance.ts";
import { countFails, countOne, makeKvstore, type TestKvstore, until } from "./kvstore-support.ts";

describe("kvstore, sentinel", () => {
  let group: SentinelGroup;
  before(async () => {
    group = await SentinelGroup.start();
  });
  after(() => group.stop());

  function open(t: TestContext, options: Partial<TestKvstore> = {}): KvstoreStore {
    const store = makeKvstore({ type: "sentinel", url: group.url, poolSize: 2, ...options });
    t.after(() => store.close());
    return store;
  }

  const make = () => makeKvstore({ type: "sentinel", url: group.url, poolSize: 2 });
  storeConformance("kvstore sentinel", { makeStore: make, makePeer: make });

  test("calls continue on the new master after a failover under load, within their bounds", async (t) => {
    const said: string[] = [];
    const store = open(t, { timeout: scaled(1000), log: (_, message) => said.push(message) });
    let on = true;
    const results = { good: 0, slowest: 0 };
    const callers = Array.from({ length: 20 }, async (_, i) => {
      while (on) {
        const begun = performance.now();
        await countOne(store, { stem: `failover|n=${i}|hour:` }).then(
          () => results.good++,
          () => sleep(5),
        );
        results.slowest = Math.max(results.slowest, performance.now() - begun);
      }
    });
    const before = await group.master();
    await group.failover();
    const master = await group.master();
    assert.notEqual(master, before);
    const stem = `failover|after|hour:`;
    await until("the new master counts", async () => {
      await countOne(store, { stem }).catch(() => {});
      return (await master.command("EXISTS", stem + windowOf(3600))) === 1;
    });
    const { good } = results;
    await until("all callers continue", () => results.good > good + 100);
    on = false;
    await Promise.all(callers);
    assert.ok(results.slowest < scaled(2500), `the slowest call took ${results.slowest} ms`);
    await until("the log has the move", () => said.some((line) => line.includes(`to ${master.url}`)));
  });

  test("a silent sentinel delays nothing, and an unknown master name fails", async (t) => {
    await group.sentinels[0]!.pause();
    t.after(() => group.sentinels[0]!.resume());
    assert.equal(await countOne(open(t), { stem: "paused-sentinel|hour:" }), 1);
    const other = open(t, { url: group.url.replace("counters", "nobody"), onEmptyWait: scaled(20) });
    const { error } = await countFails(other, "STORE_UNAVAILABLE");
    assert.match(error.message, /no sentinel knows the master "nobody"/);
  });

  test("leaves a hanging master when the sentinels have another, long before the timeout", async (t) => {
    const store = open(t, { timeout: scaled(60_000), onEmpty: "WAIT" });
    await countOne(store, { stem: "hangs|hour:" });
    const before = await group.master();
    await before.pause();
    t.after(() => before.resume());
    const { took } = await countFails(store, "STORE_UNAVAILABLE", { stem: "hangs|hour:" });
    assert.ok(took < scaled(15_000), `after ${took} ms`);
    assert.equal(await countOne(store, { stem: "hangs|new|hour:" }), 1);
    await until("all sentinels agree", async () => (await group.master()) !== before);
  });
});
