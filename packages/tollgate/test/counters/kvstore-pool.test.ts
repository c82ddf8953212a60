/** KVSTORE_POOL_SIZE, _TIMEOUT, _POOL_ON_EMPTY_BEHAVIOR and _WAIT_DURATION, _PIPELINE_WINDOW, health, gauges, deadlines. */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { after, before, describe, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { scaled } from "../../../../tools/time-scale.ts";
import type { KvstoreStore } from "../../src/counters/kvstore/kvstore.ts";
import { freePort } from "../servers/process.ts";
import { FaultyProxy } from "../servers/proxy.ts";
import { RedisServer } from "../servers/redis.ts";
import { makeCount, makeRequest } from "./conformance.ts";
import { countFails, countOne, makeKvstore, type TestKvstore, until, within } from "./kvstore-support.ts";

describe("kvstore: pool", () => {
  let redis: RedisServer;
  before(async () => {
    redis = await RedisServer.start();
  });
  after(() => redis.stop());

  function open(t: TestContext, options: Partial<TestKvstore>): KvstoreStore {
    const store = makeKvstore({ url: redis.url, ...options });
    t.after(() => store.close());
    return store;
  }

  async function proxied(t: TestContext, options: Partial<TestKvstore>) {
    const proxy = await FaultyProxy.start(redis.port);
    t.after(() => proxy.stop());
    const store = open(t, { url: proxy.url, ...options });
    await countOne(store, { stem: "warm|hour:" });
    return { proxy, store };
  }

  const stemOf = (t: TestContext) => `${t.name.replaceAll(" ", "_")}|hour:`;

  test("so many connections are kept, and lost ones are made again", async (t) => {
    const seen: number[] = [];
    const { proxy, store } = await proxied(t, { poolSize: 4, onConnections: (active) => seen.push(active) });
    await until("four stand", () => store.gauges.cxActive === 4);
    assert.equal(proxy.open, 4);
    assert.deepEqual({ ...store.gauges }, { cxActive: 4, cxTotal: 4, cxLocalClose: 0 });
    proxy.cut();
    await until("four stand again", () => store.gauges.cxTotal === 8);
    assert.equal(store.gauges.cxActive, 4);
    assert.deepEqual(seen.slice(0, 4), [1, 2, 3, 4]);
    assert.ok(seen.slice(4).includes(0), "health was told that none stood");
    assert.equal(seen.at(-1), 4);
    await store.close();
    assert.equal(store.gauges.cxActive, 0);
    assert.equal(store.gauges.cxLocalClose, 4);
  });

  test("the log says once when no connection stands and when one does again, and names the reason", async (t) => {
    const lines: string[] = [];
    const log = (level: string, message: string) => lines.push(`${level} ${message}`);
    const { proxy, store } = await proxied(t, { poolSize: 3, log });
    await until("all stand", () => store.gauges.cxActive === 3);
    proxy.cut();
    await until("it is connected again", () => lines.length >= 3);
    assert.deepEqual(
      lines.map((line) => line.replace(/ECONNRESET|EPIPE|the other side closed the connection/, "REASON")),
      [
        "info connected to the key-value store",
        `warn no connection to the key-value store: ${proxy.url}: REASON`,
        "info connected to the key-value store",
      ],
    );
  });

  test("a store that is closed does not log that it has no connection", async (t) => {
    for (const target of [{ poolSize: 1 }, { poolSize: 4 }]) {
      const lines: string[] = [];
      const log = (level: string, message: string) => lines.push(`${level} ${message}`);
      const { store } = await proxied(t, { ...target, log });
      await until("all connections are open", () => store.gauges.cxActive === target.poolSize);
      await store.close();
      assert.equal(store.gauges.cxActive, 0);
      assert.deepEqual(lines, ["info connected to the key-value store"]);
    }
  });

  test("the first attempt is told even when it fails", async (t) => {
    const port = await freePort();
    const told = new Promise<number>((resolve) => {
      open(t, { url: `127.0.0.1:${port}`, onConnections: resolve });
    });
    assert.equal(await told, 0);
  });

  test("a connection carries one batch at a time; who finds all busy waits in the next", async (t) => {
    const { proxy, store } = await proxied(t, { poolSize: 1 });
    await redis.command("CONFIG", "RESETSTAT");
    proxy.held = () => true;
    const stem = stemOf(t);
    const first = countOne(store, { stem });
    await until("the first is on its way", async () => (await redis.calls("incrby")) === 1);
    const others = Promise.all(Array.from({ length: 50 }, () => countOne(store, { stem })));
    await sleep(30);
    assert.equal(await redis.calls("incrby"), 1, "nothing else went out");
    proxy.held = () => false;
    assert.equal(await first, 1);
    assert.deepEqual(
      (await others).sort((a, b) => a - b),
      Array.from({ length: 50 }, (_, i) => i + 2),
    );
    assert.equal(await redis.calls("incrby"), 2, "all that waited were one command");
  });

  describe("when no connection becomes free", () => {
    test("ERROR fails after the wait", async (t) => {
      const { proxy, store } = await proxied(t, { poolSize: 1, onEmpty: "ERROR", onEmptyWait: scaled(60) });
      proxy.held = () => true;
      const stuck = countOne(store, { stem: stemOf(t) });
      await sleep(5);
      const { took, error } = await countFails(store, "STORE_UNAVAILABLE");
      assert.match(error.message, /no connection .* within \d+ ms/);
      assert.ok(took >= 55 && took < scaled(1000), `after ${took} ms`);
      proxy.held = () => false;
      assert.equal(await stuck, 1, "the one under way was left alone");
      assert.equal(proxy.accepted, 1);
    });

    test("CREATE opens an overflow connection after the wait, and closes it when it is idle", async (t) => {
      const { proxy, store } = await proxied(t, { poolSize: 1, onEmpty: "CREATE", onEmptyWait: scaled(60) });
      proxy.held = (connection) => connection === 0;
      const stem = stemOf(t);
      const stuck = countOne(store, { stem: `${stem}stuck:` });
      await sleep(5);
      const begun = performance.now();
      const together = await Promise.all([countOne(store, { stem }), countOne(store, { stem })]);
      assert.deepEqual(together, [1, 2]);
      assert.ok(performance.now() - begun >= 55);
      assert.equal(proxy.accepted, 2, "one overflow connection for both");
      await until("the overflow connection is closed", () => proxy.open === 1);
      assert.equal(store.gauges.cxLocalClose, 1);
      proxy.held = () => false;
      assert.equal(await stuck, 1);
      assert.equal(await countOne(store, { stem }), 3);
    });

    test("CREATE opens at most as many as the pool has", async (t) => {
      const { proxy, store } = await proxied(t, {
        poolSize: 2,
        onEmptyWait: scaled(10),
        timeout: scaled(1500),
      });
      await until("the pool stands", () => store.gauges.cxActive === 2);
      proxy.held = () => true;
      const calls: Promise<unknown>[] = [];
      for (let i = 0; i < 12; i++) {
        calls.push(countOne(store, { stem: `${stemOf(t)}${i}:` }).catch(() => {}));
        await sleep(25);
      }
      assert.ok(proxy.accepted <= 4, `${proxy.accepted} connections`);
      proxy.held = () => false;
      await Promise.all(calls);
    });

    test("CREATE tells who waited why the overflow connection could not be made", async (t) => {
      const port = await freePort();
      const store = open(t, { url: `127.0.0.1:${port}`, onEmptyWait: scaled(80) });
      const { error, took } = await countFails(store, "STORE_UNAVAILABLE");
      assert.match(error.message, /ECONNREFUSED/);
      assert.ok(took >= 75 && took < scaled(1000), `after ${took} ms`);
    });

    test("WAIT goes on, up to the time-out", async (t) => {
      const { proxy, store } = await proxied(t, {
        poolSize: 1,
        onEmpty: "WAIT",
        onEmptyWait: scaled(10),
        timeout: scaled(400),
      });
      proxy.held = () => true;
      const stem = stemOf(t);
      const stuck = countFails(store, "STORE_TIMEOUT", { stem });
      await sleep(150);
      const waiting = countOne(store, { stem: `${stem}2:` });
      await sleep(100);
      proxy.held = () => false;
      await stuck.catch(() => {});
      assert.equal(await waiting, 1, "it waited beyond onEmptyWait, and was served");
    });

    test("WAIT ends with the time-out when there is no server at all", async (t) => {
      const port = await freePort();
      const store = open(t, { url: `127.0.0.1:${port}`, onEmpty: "WAIT", timeout: scaled(150) });
      const { took } = await countFails(store, "STORE_TIMEOUT");
      assert.ok(took >= 140 && took < scaled(1500), `after ${took} ms`);
    });

    test("a server that comes back within the wait loses nobody", async (t) => {
      const port = await freePort();
      const store = open(t, { url: `127.0.0.1:${port}`, onEmptyWait: scaled(5000) });
      const call = countOne(store, { stem: stemOf(t) });
      await sleep(50);
      const late = await RedisServer.start({ port });
      t.after(() => late.stop());
      assert.equal(await call, 1);
    });
  });

  describe("the time-out", () => {
    test("bounds connecting: a server that never greets", async (t) => {
      const mute = createServer(() => {});
      await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
      t.after(() => mute.close());
      const { port } = mute.address() as { port: number };
      const store = open(t, {
        url: `127.0.0.1:${port}`,
        timeout: scaled(100),
        onEmptyWait: scaled(20),
        poolSize: 1,
      });
      const { took } = await countFails(store, "STORE_TIMEOUT");
      assert.ok(took >= 90 && took < scaled(1500), `after ${took} ms`);
    });

    test("bounds reading: a stopped server, and the connection is not used again", async (t) => {
      const stopped = await RedisServer.start();
      t.after(() => stopped.stop());
      const store = open(t, { url: stopped.url, timeout: scaled(150), poolSize: 1 });
      const stem = stemOf(t);
      assert.equal(await countOne(store, { stem }), 1);
      await stopped.pause();
      const { took } = await countFails(store, "STORE_TIMEOUT", { stem });
      assert.ok(took >= 140 && took < scaled(1500), `after ${took} ms`);
      stopped.resume();
      const next = await countOne(store, { stem });
      assert.ok(next === 2 || next === 3, `counted once or not at all, never twice: ${next}`);
    });

    test("bounds writing: a batch larger than the socket's buffers", async (t) => {
      const stopped = await RedisServer.start();
      t.after(() => stopped.stop());
      const store = open(t, { url: stopped.url, timeout: scaled(300), poolSize: 1, onEmptyWait: scaled(50) });
      await countOne(store, { stem: stemOf(t) });
      await stopped.pause();
      const long = "x".repeat(100_000);
      const counts = Array.from({ length: 300 }, (_, i) => makeCount({ stem: `${long}${i}:` }));
      const begun = performance.now();
      await assert.rejects(async () => store.count(makeRequest(counts)), { code: "STORE_TIMEOUT" });
      assert.ok(performance.now() - begun < scaled(2000));
      stopped.resume();
      await until("it counts again", () =>
        countOne(store, { stem: "again|hour:" }).then(
          () => true,
          () => false,
        ),
      );
    });
  });

  test("a process that stood still reads what has come in before it calls the store too slow", async (t) => {
    const store = open(t, { poolSize: 1, timeout: scaled(100) });
    const stem = stemOf(t);
    await countOne(store, { stem });
    for (let i = 2; i < 5; i++) {
      const counted = countOne(store, { stem });
      // Right behind the sending of the batch.
      setImmediate(() => {
        const end = performance.now() + scaled(250);
        while (performance.now() < end);
      });
      assert.equal(await counted, i);
    }
    assert.equal(store.gauges.cxTotal, 1, "and keeps its connection");
  });

  test("a caller's deadline bounds its own wait and loses nobody else's hits", async (t) => {
    const { proxy, store } = await proxied(t, { poolSize: 1 });
    proxy.held = () => true;
    const stem = stemOf(t);
    const patient = countOne(store, { stem });
    const hasty = countFails(store, "DEADLINE_EXCEEDED", { stem }, within(scaled(40)));
    await sleep(5);
    const waiting = countOne(store, { stem });
    const hastyInQueue = countFails(store, "DEADLINE_EXCEEDED", { stem, hits: 100 }, within(scaled(40)));
    for (const { took } of await Promise.all([hasty, hastyInQueue]))
      assert.ok(took >= 35 && took < scaled(1000), `after ${took} ms`);
    proxy.held = () => false;
    assert.equal(await patient, 1);
    assert.equal(await waiting, 3, "who left while waiting was not counted, who left on the way was");
    await countFails(store, "DEADLINE_EXCEEDED", { stem }, { now: 1000, deadline: 1000 });
    assert.equal(await countOne(store, { stem, hits: 0 }, { now: 1000, deadline: 3000 }), 3, "on any clock");
  });

  test("a deadline may be as far away as gRPC can say", async (t) => {
    const { proxy, store } = await proxied(t, { poolSize: 1 });
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on("warning", onWarning);
    t.after(() => process.off("warning", onWarning));
    proxy.held = () => true;
    const far = countOne(store, { stem: stemOf(t) }, within(99_999_999 * 3_600_000));
    await countFails(store, "DEADLINE_EXCEEDED", { stem: stemOf(t) }, within(scaled(20)));
    proxy.held = () => false;
    assert.equal(await far, 1);
    assert.deepEqual(warnings, []);
  });

  test("who comes behind a caller that left is told its own position all the same", async (t) => {
    const { proxy, store } = await proxied(t, { poolSize: 1 });
    proxy.held = () => true;
    const stem = stemOf(t);
    const hasty = makeCount({ stem, hits: 10 });
    const left = assert.rejects(async () => store.count(makeRequest([hasty], within(scaled(30)))), {
      code: "DEADLINE_EXCEEDED",
    });
    const patient = [countOne(store, { stem, hits: 1 }), countOne(store, { stem, hits: 0 })];
    await left;
    proxy.held = () => false;
    assert.deepEqual(await Promise.all(patient), [11, 11]);
    assert.deepEqual([hasty.outcome, hasty.after], [-1, -1], "the count of who left is not touched any more");
  });

  test("more than may wait fails at once", async (t) => {
    const { proxy, store } = await proxied(t, { poolSize: 1, maxWaiting: 10 });
    proxy.held = () => true;
    const stem = stemOf(t);
    const first = countOne(store, { stem });
    await sleep(5);
    const ten = Array.from({ length: 10 }, () => countOne(store, { stem }));
    const { took, error } = await countFails(store, "STORE_FULL", { stem });
    assert.ok(took < scaled(20), `at once, not after ${took} ms`);
    assert.match(error.message, /10 counts wait/);
    proxy.held = () => false;
    assert.equal(await first, 1);
    await Promise.all(ten);
    assert.equal(await countOne(store, { stem, hits: 0 }), 11);
  });

  test("what waits is bounded in bytes too: keys are as long as callers make them", async (t) => {
    const { proxy, store } = await proxied(t, { poolSize: 1 });
    proxy.held = () => true;
    const stem = stemOf(t);
    const first = countOne(store, { stem });
    await sleep(5);
    const long = "x".repeat(20_000_000);
    const waiting = Array.from({ length: 4 }, (_, i) => countOne(store, { stem: `${long}${i}:` }));
    const { error } = await countFails(store, "STORE_FULL", { stem });
    assert.match(error.message, /bytes of keys wait already/);
    proxy.held = () => false;
    assert.equal(await first, 1);
    assert.deepEqual(await Promise.all(waiting), [1, 1, 1, 1]);
    assert.equal(await countOne(store, { stem }), 2);
    await redis.command("FLUSHALL");
  });

  test("more counts than a batch carries go out in several, each in its place", async (t) => {
    const store = open(t, { poolSize: 1 });
    const stem = stemOf(t);
    const counts = Array.from({ length: 3000 }, (_, i) =>
      makeCount({ stem: i % 2 === 0 ? stem : `${stem}${i}:` }),
    );
    await store.count(makeRequest(counts));
    for (const [i, { after }] of counts.entries()) assert.equal(after, i % 2 === 0 ? i / 2 + 1 : 1);
  });

  test("the pipeline window delays a batch and lets it fill", async (t) => {
    const store = open(t, { pipelineWindow: scaled(60) });
    const stem = stemOf(t);
    await countOne(store, { stem });
    await redis.command("CONFIG", "RESETSTAT");
    const begun = performance.now();
    const calls: Promise<number>[] = [];
    for (let i = 0; i < 4; i++) {
      calls.push(countOne(store, { stem }));
      await new Promise(setImmediate);
    }
    assert.deepEqual(await Promise.all(calls), [2, 3, 4, 5]);
    assert.ok(performance.now() - begun >= 55);
    assert.equal(await redis.calls("incrby"), 1);
  });

  test("without a window a call goes out with its turn of the event loop", async (t) => {
    const store = open(t, { pipelineWindow: 0.15 });
    const stem = stemOf(t);
    await countOne(store, { stem });
    await redis.command("CONFIG", "RESETSTAT");
    assert.deepEqual(await Promise.all([countOne(store, { stem }), countOne(store, { stem })]), [2, 3]);
    assert.equal(await redis.calls("incrby"), 1);
    await countOne(store, { stem });
    assert.equal(await redis.calls("incrby"), 2);
  });

  test("closing lets what is under way end", async (t) => {
    const { proxy, store } = await proxied(t, { poolSize: 1 });
    proxy.delay = 50;
    const stem = stemOf(t);
    const call = countOne(store, { stem });
    await store.close();
    assert.equal(await call, 1);
    assert.throws(() => store.count(makeRequest([makeCount({ stem })])), { code: "STORE_UNAVAILABLE" });
  });

  test("closing does not wait for ever", async (t) => {
    const { proxy, store } = await proxied(t, { poolSize: 1, timeout: scaled(200) });
    proxy.held = () => true;
    const failed = assert.rejects(countOne(store, { stem: stemOf(t) }), { name: "StoreError" });
    await store.close();
    await failed;
  });
});
