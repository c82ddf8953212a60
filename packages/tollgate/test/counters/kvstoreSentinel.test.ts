import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { KvstoreStore } from "../../src/counters/kvstore/kvstore.ts";
import { SentinelGroup } from "../servers/sentinel.ts";
import { makeCount, makeRequest, storeConformance } from "./conformance.ts";

describe("kvstore, sentinel", () => {
  let group: SentinelGroup;
  before(async () => {
    group = await SentinelGroup.start();
  });
  after(() => group.stop());
  const open = () => new KvstoreStore({ type: "sentinel", url: group.url });

  storeConformance("kvstore sentinel", { makeStore: open, makePeer: open });

  test("a failover under load: calls go on against the new master, none hangs", async (t) => {
    const store = new KvstoreStore({ type: "sentinel", url: group.url, timeout: 1000 });
    t.after(() => store.close());
    let on = true;
    const results = { good: 0, failed: 0, slowest: 0 };
    const callers = Array.from({ length: 20 }, async (_, i) => {
      while (on) {
        const begun = performance.now();
        try {
          await store.count(makeRequest([makeCount({ stem: `failover|n=${i}|hour:` })]));
          results.good++;
        } catch {
          results.failed++;
        }
        results.slowest = Math.max(results.slowest, performance.now() - begun);
      }
    });
    const before = await group.master();
    await group.failover();
    const master = await group.master();
    assert.notEqual(master, before);
    await group.until(async () => {
      const good = results.good;
      await new Promise((resolve) => setTimeout(resolve, 20));
      return results.good > good + 20 && (await master.command("EXISTS", await aKey(master))) === 1;
    });
    on = false;
    await Promise.all(callers);
    assert.ok(results.slowest < 2500, `the slowest call took ${results.slowest} ms`);
  });

  async function aKey(master: { command(...words: string[]): Promise<unknown> }): Promise<string> {
    return String((await master.command("RANDOMKEY")) ?? "none");
  }
});
