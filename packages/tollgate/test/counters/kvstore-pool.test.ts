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

  test("keeps its connections and reopens lost ones", async (t) => {
    const seen: number[] = [];
    const { proxy, store } = await proxied(t, { poolSize: 4, onConnections: (active) => seen.push(active) });
    await until("four connections are open", () => store.gauges.cxActive === 4);
    assert.equal(proxy.open, 4);
    assert.deepEqual({ ...store.gauges }, { cxActive: 4, cxTotal: 4, cxLocalClose: 0 });
    proxy.cut();
    await until("four connections are open again", () => store.gauges.cxTotal === 8);
    assert.equal(store.gauges.cxActive, 4);
    assert.deepEqual(seen.slice(0, 4), [1, 2, 3, 4]);
    assert.ok(seen.slice(4).includes(0), "health saw 0 connections");
    assert.equal(seen.at(-1), 4);
    await store.close();
    assert.equal(store.gauges.cxActive, 0);
    assert.equal(store.gauges.cxLocalClose, 4);
  });

  test("logs once when all connections are lost and when one is open again, with the reason", async (t) => {
    const lines: string[] = [];
    const log = (level: string, message: string) => lines.push(`${level} ${message}`);
    const { proxy, store } = await proxied(t, { poolSize: 3, log });
    await until("all connections are open", () => store.gauges.cxActive === 3);
    proxy.cut();
    await until("it is connected again", () => lines.length >= 3);
    assert.deepEqual(
      lines.map((line) => line.replace(/ECONNRESET|EPIPE|the server closed the connection/, "REASON")),
      [
        "info connected to the key-value store",
        `warn no connection to the key-value store: ${proxy.url}: REASON`,
        "info connected to the key-value store",
      ],
    );
  });

  test("neither logs nor reports lost connections of a closed store", async (t) => {
    for (const target of [{ poolSize: 1 }, { poolSize: 4 }]) {
      const lines: string[] = [];
      const log = (level: string, message: string) => lines.push(`${level} ${message}`);
      const reported: number[] = [];
      const onConnections = (active: number) => void reported.push(active);
      const { store } = await proxied(t, { ...target, log, onConnections });
      await until("all connections are open", () => store.gauges.cxActive === target.poolSize);
      await store.close();
      assert.equal(store.gauges.cxActive, 0);
      assert.deepEqual(lines, ["info connected to the key-value store"]);
      assert.ok(reported.length > 0 && !reported.includes(0), reported.join());
    }
  });

  test("reports the first attempt even if it fails", async (t) => {
    const port = await freePort();
    const reported = new Promise<number>((resolve) => {
      open(t, { url: `127.0.0.1:${port}`, onConnections: resolve });
    });
    assert.equal(await reported, 0);
  });

  test("a connection carries one batch at a time, and further calls wait for the next batch", async (t) => {
    const { proxy, store } = await proxied(t, { poolSize: 1 });
    await redis.command("CONFIG", "RESETSTAT");
    proxy.held = () => true;
    const stem = stemOf(t);
    const first = countOne(store, { stem });
    await until("the first call is sent", async () => (await redis.calls("incrby")) === 1);
    const others = Promise.all(Array.from({ length: 50 }, () => countOne(store, { stem })));
    await sleep(30);
    assert.equal(await redis.calls("incrby"), 1, "no other batch was sent");
    proxy.held = () => false;
    assert.equal(await first, 1);
    assert.deepEqual(
      (await others).sort((a, b) => a - b),
      Array.from({ length: 50 }, (_, i) => i + 2),
    );
    assert.equal(await redis.calls("incrby"), 2, "the waiting calls were one command");
  });

  describe("without a free connection", () => {
    test("ERROR fails after the wait", async (t) => {
      const { proxy, store } = await proxied(t, { poolSize: 1, onEmpty: "ERROR", onEmptyWait: scaled(60) });
      proxy.held = () => true;
      const stuck = countOne(store, { stem: stemOf(t) });
      await sleep(5);
      const { took, error } = await countFails(store, "STORE_UNAVAILABLE");
      assert.match(error.message, /no connection .* within \d+ ms/);
      assert.ok(took >= 55 && took < scaled(1000), `after ${took} ms`);
      proxy.held = () => false;
      assert.equal(await stuck, 1, "the call in progress succeeded");
      assert.equal(proxy.accepted, 1);
    });

    test("CREATE opens an overflow connection after the wait and closes the idle connection", async (t) => {
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

    test("CREATE opens at most as many connections as the pool size", async (t) => {
      const { proxy, store } = await proxied(t, {
        poolSize: 2,
        onEmptyWait: scaled(10),
        timeout: scaled(1500),
      });
      await until("all connections of the pool are open", () => store.gauges.cxActive === 2);
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

    test("CREATE fails waiting calls with the error of the overflow connection", async (t) => {
      const port = await freePort();
      const store = open(t, { url: `127.0.0.1:${port}`, onEmptyWait: scaled(80) });
      const { error, took } = await countFails(store, "STORE_UNAVAILABLE");
      assert.match(error.message, /ECONNREFUSED/);
      assert.ok(took >= 75 && took < scaled(1000), `after ${took} ms`);
    });

    test("WAIT waits up to the timeout", async (t) => {
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
      assert.equal(await waiting, 1, "the call waited longer than onEmptyWait and succeeded");
    });

    test("WAIT ends with the timeout without a server", async (t) => {
      const port = await freePort();
      const store = open(t, { url: `127.0.0.1:${port}`, onEmpty: "WAIT", timeout: scaled(150) });
      const { took } = await countFails(store, "STORE_TIMEOUT");
      assert.ok(took >= 140 && took < scaled(1500), `after ${took} ms`);
    });

    test("loses no call when the server returns within the wait", async (t) => {
      const port = await freePort();
      const store = open(t, { url: `127.0.0.1:${port}`, onEmptyWait: scaled(5000) });
      const call = countOne(store, { stem: stemOf(t) });
      await sleep(50);
      const late = await RedisServer.start({ port });
      t.after(() => late.stop());
      assert.equal(await call, 1);
    });
  });

  describe("the timeout", () => {
    test("bounds connecting to a server that never answers", async (t) => {
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

    test("bounds reading from a stopped server and discards the connection", async (t) => {
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

    test("the timeout also bounds the write of a batch that is larger than the socket buffers", async (t) => {
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

  test("reads pending replies before a timeout after a pause of the process", async (t) => {
    const store = open(t, { poolSize: 1, timeout: scaled(100) });
    const stem = stemOf(t);
    await countOne(store, { stem });
    for (let i = 2; i < 5; i++) {
      const counted = countOne(store, { stem });
      // Right after the batch was sent.
      setImmediate(() => {
        const end = performance.now() + scaled(250);
        while (performance.now() < end);
      });
      assert.equal(await counted, i);
    }
    assert.equal(store.gauges.cxTotal, 1, "the connection is kept");
  });

  test("a caller's deadline bounds only its own call", async (t) => {
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
    assert.equal(await waiting, 3, "the expired waiting call was not counted, and the expired sent call was");
    await countFails(store, "DEADLINE_EXCEEDED", { stem }, { now: 1000, deadline: 1000 });
    assert.equal(await countOne(store, { stem, hits: 0 }, { now: 1000, deadline: 3000 }), 3, "on any clock");
  });

  test("accepts the latest deadline of gRPC", async (t) => {
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

  test("a call behind an expired one has its own position", async (t) => {
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
    assert.deepEqual([hasty.outcome, hasty.after], [-1, -1], "the expired count is unchanged");
  });

  test("fails calls at once when the queue is full", async (t) => {
    const { proxy, store } = await proxied(t, { poolSize: 1, maxWaiting: 10 });
    proxy.held = () => true;
    const stem = stemOf(t);
    const first = countOne(store, { stem });
    await sleep(5);
    const ten = Array.from({ length: 10 }, () => countOne(store, { stem }));
    const { took, error } = await countFails(store, "STORE_FULL", { stem });
    assert.ok(took < scaled(20), `at once, not after ${took} ms`);
    assert.match(error.message, /10 counts already wait/);
    proxy.held = () => false;
    assert.equal(await first, 1);
    await Promise.all(ten);
    assert.equal(await countOne(store, { stem, hits: 0 }), 11);
  });

  test("bounds the queue in bytes, for long keys", async (t) => {
    const { proxy, store } = await proxied(t, { poolSize: 1 });
    proxy.held = () => true;
    const stem = stemOf(t);
    const first = countOne(store, { stem });
    await sleep(5);
    const long = "x".repeat(20_000_000);
    const waiting = Array.from({ length: 4 }, (_, i) => countOne(store, { stem: `${long}${i}:` }));
    const { error } = await countFails(store, "STORE_FULL", { stem });
    assert.match(error.message, /bytes of keys already wait/);
    proxy.held = () => false;
    assert.equal(await first, 1);
    assert.deepEqual(await Promise.all(waiting), [1, 1, 1, 1]);
    assert.equal(await countOne(store, { stem }), 2);
    await redis.command("FLUSHALL");
  });

  test("splits many counts into several batches, in order", async (t) => {
    const store = open(t, { poolSize: 1 });
    const stem = stemOf(t);
    const counts = Array.from({ length: 3000 }, (_, i) =>
      makeCount({ stem: i % 2 === 0 ? stem : `${stem}${i}:` }),
    );
    await store.count(makeRequest(counts));
    for (const [i, { after }] of counts.entries()) assert.equal(after, i % 2 === 0 ? i / 2 + 1 : 1);
  });

  test("the pipeline window delays a batch so that it fills", async (t) => {
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

  test("without a window a call is sent in its turn of the event loop", async (t) => {
    const store = open(t, { pipelineWindow: 0.15 });
    const stem = stemOf(t);
    await countOne(store, { stem });
    await redis.command("CONFIG", "RESETSTAT");
    assert.deepEqual(await Promise.all([countOne(store, { stem }), countOne(store, { stem })]), [2, 3]);
    assert.equal(await redis.calls("incrby"), 1);
    await countOne(store, { stem });
    assert.equal(await redis.calls("incrby"), 2);
  });

  test("closing waits for calls in progress", async (t) => {
    const { proxy, store } = await proxied(t, { poolSize: 1 });
    proxy.delay = 50;
    const stem = stemOf(t);
    const call = countOne(store, { stem });
    await store.close();
    assert.equal(await call, 1);
    assert.throws(() => store.count(makeRequest([makeCount({ stem })])), { code: "STORE_UNAVAILABLE" });
  });

  test("closing waits for a bounded time", async (t) => {
    const { proxy, store } = await proxied(t, { poolSize: 1, timeout: scaled(200) });
    proxy.held = () => true;
    const failed = assert.rejects(countOne(store, { stem: stemOf(t) }), { name: "StoreError" });
    await store.close();
    await failed;
  });
});
