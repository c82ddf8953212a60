/** KVSTORE_TYPE=cluster: conformance, slot migration, servers that join and leave. */
import assert from "node:assert/strict";
import { after, before, describe, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { scaled } from "../../../../tools/time-scale.ts";
import { FailurePolicy } from "../../src/counters/failure-policy.ts";
import type { KvstoreStore } from "../../src/counters/kvstore/kvstore.ts";
import { slotOf } from "../../src/counters/kvstore/slots.ts";
import { HoldBack, Outcome } from "../../src/counters/store.ts";
import { RedisCluster } from "../servers/cluster.ts";
import { makeCount, makeRequest, storeConformance, windowOf } from "./conformance.ts";
import { countOne, makeKvstore, type TestKvstore, until } from "./kvstore-support.ts";

describe("kvstore, cluster", () => {
  let cluster: RedisCluster;
  before(async () => {
    cluster = await RedisCluster.start(3);
  });
  after(() => cluster.stop());

  function open(t: TestContext, options: Partial<TestKvstore> = {}): KvstoreStore {
    const store = makeKvstore({ type: "cluster", url: cluster.url, poolSize: 2, ...options });
    t.after(() => store.close());
    return store;
  }

  storeConformance("kvstore cluster", {
    makeStore: () => makeKvstore({ type: "cluster", url: cluster.url, poolSize: 2 }),
    makePeer: () => makeKvstore({ type: "cluster", url: cluster.nodes[0]!.url, poolSize: 2 }),
  });

  test("a prefix with a hash tag puts all counters into one slot", async (t) => {
    const store = open(t);
    const stem = "{deployment-1}tagged|";
    const requests = Array.from({ length: 40 }, (_, i) =>
      makeRequest([makeCount({ stem: `${stem}a:`, limit: 10 }), makeCount({ stem: `${stem}${i % 3}:` })], {
        holdBack: HoldBack.WHEN_REFUSED,
      }),
    );
    await Promise.all(requests.map((request) => store.count(request)));
    const holders = await Promise.all(
      cluster.nodes.map((node) => node.command("CLUSTER", "COUNTKEYSINSLOT", slotOf("{deployment-1}"))),
    );
    assert.equal(holders.filter((count) => count !== 0).length, 1);
    assert.equal(await countOne(store, { stem: `${stem}a:`, hits: 0 }), 40);
    const admitted = requests.filter(({ counts }) => counts[1]!.outcome === Outcome.COUNTED);
    assert.equal(admitted.length, 10);
  });

  test("reports refunds of a slot", async (t) => {
    const refunded: string[] = [];
    const store = open(t, { onRefund: (counts) => refunded.push(...counts.map(({ stem }) => stem)) });
    for (const stem of ["tight:", "{other}wide:"]) await countOne(store, { stem, hits: 0 });
    const requests = Array.from({ length: 12 }, () =>
      makeRequest([makeCount({ stem: "tight:", limit: 5 }), makeCount({ stem: "{other}wide:" })], {
        holdBack: HoldBack.WHEN_REFUSED,
      }),
    );
    await Promise.all(requests.map((request) => store.count(request)));
    const held = requests.filter(({ counts }) => counts[1]!.outcome === Outcome.HELD);
    assert.equal(held.length, 7);
    // The looks of one turn are one batch, before the first count.
    assert.ok(refunded.length > 0 && refunded.length <= held.length, String(refunded.length));
    assert.deepEqual(new Set(refunded), new Set(["{other}wide:"]));
    assert.equal(await countOne(store, { stem: "{other}wide:", hits: 0 }), 5);
  });

  /** Calls in a loop over many keys. Each key has one caller, which tracks the expected counter. */
  function load(store: KvstoreStore, callers: number, stem: string) {
    const state = { on: true, answered: 0, failed: 0, wrong: 0, slowest: 0 };
    const loop = async (i: number) => {
      let counted = 0;
      let lost = 0;
      while (state.on) {
        const count = makeCount({ stem: `${stem}${i}:` });
        const begun = performance.now();
        try {
          await store.count(makeRequest([count]));
          counted++;
          state.answered++;
          if (count.after < counted || count.after > counted + lost) state.wrong++;
        } catch {
          lost++;
          state.failed++;
          await sleep(5);
        }
        state.slowest = Math.max(state.slowest, performance.now() - begun);
      }
    };
    const all = Array.from({ length: callers }, (_, i) => loop(i));
    return {
      state,
      async end() {
        state.on = false;
        await Promise.all(all);
        return state;
      },
    };
  }

  test("loses no answer while slots move under load: MOVED, ASK, TRYAGAIN", async (t) => {
    const store = open(t);
    const running = load(store, 60, "{moving}|");
    const slot = slotOf("{moving}");
    const from = cluster.nodes[Math.floor((slot * 3) / 16384)]!;
    const to = cluster.nodes.find((node) => node !== from)!;
    await until("keys exist", () => running.state.answered > 200);
    // Halfway, a script with an existing and a new key gets TRYAGAIN. Single keys get ASK.
    const both = ["{moving}|both:", "{moving}|new:"].map((stem) => makeCount({ stem }));
    await countOne(store, { stem: "{moving}|both:" });
    const script = await cluster.migrate(slot, from, to, async () => {
      const promise = Promise.resolve(store.count(makeRequest(both, { holdBack: HoldBack.WHEN_REFUSED })));
      const { answered } = running.state;
      await until("calls continue", () => running.state.answered > answered + 500);
      return { promise };
    });
    await script.promise;
    assert.deepEqual(
      both.map(({ after }) => after),
      [2, 1],
    );
    const answered = running.state.answered;
    await until("calls continue on the new master", () => running.state.answered > answered + 500);
    const state = await running.end();
    assert.deepEqual({ failed: state.failed, wrong: state.wrong }, { failed: 0, wrong: 0 });
    const keys = (await to.command("CLUSTER", "GETKEYSINSLOT", slot, 1000)) as string[];
    assert.equal(keys.length, 62);
    for (const key of keys)
      assert.ok(Number(await to.command("TTL", key)) > 0, `${key} keeps an expiry wherever it was made`);
  });

  test("discovers a cluster from one server, and its gauges include all servers", async (t) => {
    const store = open(t, { url: cluster.nodes[1]!.url });
    for (let i = 0; i < 30; i++) assert.equal(await countOne(store, { stem: `found|${i}:` }), 1);
    await until("all connections are open", () => store.gauges.cxActive === 6);
  });
});

describe("kvstore, cluster with replicas", () => {
  test("a replica replaces a killed master under load, and the other masters continue", async (t) => {
    const cluster = await RedisCluster.start(3, 1, { config: ["cluster-replica-validity-factor 0"] });
    t.after(() => cluster.stop());
    const store = makeKvstore({
      type: "cluster",
      url: cluster.url,
      poolSize: 2,
      timeout: scaled(500),
      onEmptyWait: scaled(200),
    });
    t.after(() => store.close());
    const stems = Array.from({ length: 30 }, (_, i) => `dies|${i}:`);
    const lost = (stem: string) => slotOf(stem + windowOf(3600)) < 5461;
    for (const stem of stems) await countOne(store, { stem });
    await cluster.nodes[0]!.stop();
    let slowest = 0;
    const tryAll = async (which: string[]) => {
      const begun = performance.now();
      const ends = await Promise.allSettled(which.map((stem) => countOne(store, { stem })));
      slowest = Math.max(slowest, performance.now() - begun);
      return ends.every((end) => end.status === "fulfilled");
    };
    assert.ok(
      await tryAll(stems.filter((stem) => !lost(stem))),
      "the slots of the other masters are counted",
    );
    await until("the replica serves", () => tryAll(stems), scaled(20_000));
    assert.ok(slowest < scaled(1500), `no call took longer than its bounds: ${slowest} ms`);
  });

  test("does not rely on a server that lost its cluster", async (t) => {
    // The first server does not answer the replica any more. With a shorter timeout, the replica takes it for failed, and
    // stops serving as soon as the third master is slow, too.
    const config = ["cluster-require-full-coverage no", "cluster-node-timeout 60000"];
    const cluster = await RedisCluster.start(3, 1, { config });
    t.after(() => cluster.stop());
    const [first, master, , , replica] = cluster.nodes;
    const store = makeKvstore({ type: "cluster", url: cluster.url, poolSize: 2, timeout: scaled(500) });
    t.after(() => store.close());
    const stems = Array.from({ length: 30 }, (_, i) => `stale|${i}:`);
    const countAll = async () => {
      const ends = await Promise.allSettled(stems.map((stem) => countOne(store, { stem })));
      return ends.every((end) => end.status === "fulfilled");
    };
    await until("all slots are counted", countAll);
    // The store reads the slots from the first server of the list. It cannot reach the replica for a minute.
    await first!.command("CLUSTER", "FORGET", String(await replica!.command("CLUSTER", "MYID")));
    await master!.stop();
    await replica!.command("CLUSTER", "FAILOVER", "TAKEOVER");
    await until("the replica's slots are counted", countAll, Math.min(scaled(10_000), 50_000));
    assert.ok(JSON.stringify(await first!.command("CLUSTER", "SLOTS")).includes(`${master!.port}`));
  });

  test("a hanging master takes no queue space from the others", async (t) => {
    const cluster = await RedisCluster.start(3, 0, { config: ["cluster-require-full-coverage no"] });
    t.after(() => cluster.stop());
    const store = makeKvstore({
      type: "cluster",
      url: cluster.url,
      onEmpty: "WAIT",
      timeout: scaled(30_000),
    });
    const policy = new FailurePolicy(store);
    t.after(() => policy.close());
    const stems = Array.from({ length: 60 }, (_, i) => `full|${i}:`);
    const [hung, well] = [true, false].map((first) =>
      stems.filter((stem) => slotOf(stem + windowOf(3600)) < 5461 === first),
    );
    for (const stem of stems) await countOne(policy, { stem });
    await cluster.nodes[0]!.pause();
    const ends = { failed: 0 };
    const flood = Array.from({ length: 60_000 }, async (_, i) =>
      countOne(policy, { stem: hung![i % hung!.length]! }).catch(() => ends.failed++),
    );
    await until("the excess call has failed", () => ends.failed > 10_000);
    for (const stem of well!) assert.equal(await countOne(policy, { stem }), 2);
    cluster.nodes[0]!.resume();
    await Promise.all(flood);
    const counted = await Promise.all(hung!.map((stem) => countOne(policy, { stem, hits: 0 })));
    assert.equal(
      counted.reduce((sum, count) => sum + count, 0),
      flood.length - ends.failed + hung!.length,
      "exactly the answered calls were counted",
    );
  });

  test("leaves a hanging master when its replica takes over, long before the timeout", async (t) => {
    const cluster = await RedisCluster.start(3, 1, { config: ["cluster-replica-validity-factor 0"] });
    t.after(() => cluster.stop());
    const store = makeKvstore({
      type: "cluster",
      url: cluster.url,
      poolSize: 2,
      timeout: scaled(60_000),
      onEmpty: "WAIT",
    });
    t.after(() => store.close());
    // The window is part of the key: with only 12 stems, the first master would have no key in some hours.
    const stems = Array.from({ length: 60 }, (_, i) => `hangs|${i}:`);
    const countAll = () => Promise.allSettled(stems.map((stem) => countOne(store, { stem })));
    await countAll();
    const hung = cluster.nodes[0]!;
    await hung.pause();
    const begun = performance.now();
    const ends = await countAll();
    assert.ok(
      ends.some((end) => end.status === "rejected"),
      "calls in flight to it fail",
    );
    assert.ok(ends.some((end) => end.status === "fulfilled"));
    assert.ok(performance.now() - begun < scaled(20_000));
    assert.ok((await countAll()).every((end) => end.status === "fulfilled"));
  });
});
