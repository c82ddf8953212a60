/** OBJCACHE_*: memcached as the counter store, against real servers. */
import assert from "node:assert/strict";
import { after, before, describe, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { scaled } from "../../../../tools/time-scale.ts";
import type { ObjcacheStore } from "../../src/counters/objcache/objcache.ts";
import { HoldBack, MAX_COUNT } from "../../src/counters/store.ts";
import { certificates } from "../servers/certificates.ts";
import { DnsServer } from "../servers/dns.ts";
import { MemcachedServer } from "../servers/memcached.ts";
import { freePort } from "../servers/process.ts";
import { FaultyProxy } from "../servers/proxy.ts";
import { makeCount, makeRequest, storeConformance, windowOf } from "./conformance.ts";
import { countFails, countOne, makeObjcache, type TestObjcache, until, within } from "./kvstore-support.ts";

describe("objcache", () => {
  let servers: MemcachedServer[];
  let nodes: string[];
  before(async () => {
    servers = await Promise.all([MemcachedServer.start(), MemcachedServer.start(), MemcachedServer.start()]);
    nodes = servers.map((server) => server.url);
  });
  after(() => Promise.all(servers.map((server) => server.stop())));

  function open(t: TestContext, options: TestObjcache = { nodes }): ObjcacheStore {
    const store = makeObjcache(options);
    t.after(() => store.close());
    return store;
  }
  const stemOf = (t: TestContext) => `${t.name.replaceAll(/[ ,:]+/g, "_")}|hour:`;
  const keyOf = (stem: string, size = 3600) => stem + windowOf(size);
  const holder = (key: string) => servers[crc32(key) % servers.length]!;

  storeConformance("objcache", {
    makeStore: () => makeObjcache({ nodes, expirationJitterMaxSeconds: 0 }),
    holdBack: "sequential",
    holds: async (store, key) => {
      await (store as ObjcacheStore).flushed();
      return (await holder(key).get(key)) !== undefined;
    },
  });
  storeConformance("objcache, one answered increment after the other", {
    makeStore: () => makeObjcache({ nodes }),
    settle: (store) => (store as ObjcacheStore).flushed(),
  });

  test("stores a key on node crc32(key) % n of the list, in every process", async (t) => {
    const [one, other] = [open(t), open(t)];
    for (let i = 0; i < 30; i++) {
      const stem = `${stemOf(t)}${i}:`;
      await countOne(one, { stem, hits: 2 });
      await one.flushed();
      assert.equal(await countOne(other, { stem, hits: 3 }), 5);
      await other.flushed();
      const key = keyOf(stem);
      assert.equal(await holder(key).get(key), "5");
      for (const server of servers)
        if (server !== holder(key)) assert.equal(await server.get(key), undefined);
    }
  });

  test("does not wait for increments, and includes them in the next answers of the process", async (t) => {
    const proxy = await FaultyProxy.start(servers[0]!.port);
    t.after(() => proxy.stop());
    const store = open(t, { nodes: [proxy.url], maxIdleConnections: 1 });
    const stem = stemOf(t);
    for (let i = 1; i <= 20; i++) assert.equal(await countOne(store, { stem }), i);
    assert.equal(await countOne(store, { stem, hits: -5 }), 15);
    assert.equal(await countOne(store, { stem, hits: 0 }), 15);
    await store.flushed();
    assert.equal((await servers[0]!.get(keyOf(stem)))!.trim(), "15");
  });

  test("between processes, at most the hits of one round trip exceed a limit", async (t) => {
    const stores = [open(t), open(t), open(t), open(t)];
    const stem = stemOf(t);
    const limit = 100;
    let admitted = 0;
    const caller = async (store: ObjcacheStore) => {
      for (let i = 0; i < 60; i++) if ((await countOne(store, { stem })) <= limit) admitted++;
    };
    await Promise.all(stores.map(caller));
    await Promise.all(stores.map((store) => store.flushed()));
    assert.ok(admitted >= limit, "no call was refused under the limit");
    assert.ok(
      admitted <= limit + 3 * 2,
      `each other process had at most two calls on their way: ${admitted}`,
    );
    const key = keyOf(stem);
    assert.equal(await holder(key).get(key), "240", "every hit arrived");
  });

  test("reads 64-bit counts and numbers padded with spaces", async (t) => {
    const store = open(t);
    const stem = stemOf(t);
    const key = keyOf(stem);
    for (const [held, expected] of [
      ["4294967296", 2 ** 32],
      ["18446744073709551615", MAX_COUNT],
      ["7   ", 7],
    ] as const) {
      await holder(key).command(`set ${key} 0 0 ${held.length}\r\n${held}\r\n`, /STORED/);
      assert.equal(await countOne(store, { stem, hits: 0 }), expected, held);
    }
    assert.equal(await countOne(store, { stem, hits: 5_000_000_000 }), 5_000_000_007);
    await store.flushed();
    assert.equal(await holder(key).get(key), "5000000007");
  });

  test("a value that is not a number fails only its own call", async (t) => {
    const store = open(t);
    const stem = stemOf(t);
    const key = keyOf(stem);
    await holder(key).command(`set ${key} 0 0 3\r\ntea\r\n`, /STORED/);
    const neighbours = Promise.all(
      Array.from({ length: 9 }, (_, i) => countOne(store, { stem: `${stem}${i}:` })),
    );
    await countFails(store, "STORE_UNAVAILABLE", { stem });
    assert.deepEqual(await neighbours, new Array(9).fill(1));
  });

  test("keys live for their window and the jitter, with absolute expiries beyond 30 days", async (t) => {
    for (const [size, jitter] of [
      [60, 0],
      [86_400, 300],
      [2_592_000, 0],
      [2_592_000, 300],
      [31_536_000, 300],
    ] as const) {
      const store = open(t, { nodes, expirationJitterMaxSeconds: jitter });
      for (let i = 0; i < 5; i++) {
        const stem = `${stemOf(t)}${size}-${jitter}-${i}:`;
        for (const value of [1, 2]) assert.equal(await countOne(store, { stem, windowSize: size }), value);
        await store.flushed();
        const key = keyOf(stem, size);
        const left = (await holder(key).timeToLive(key))!;
        assert.ok(left >= size - 3 && left <= size + jitter + 1, `${left} s for ${size} s and ${jitter}`);
        assert.equal(await holder(key).get(key), "2");
      }
    }
  });

  test("an unusable key fails only its own call", async (t) => {
    const store = open(t);
    const start = String(windowOf(3600)).length;
    const fits = "x".repeat(250 - start);
    assert.equal(await countOne(store, { stem: fits }), 1);
    for (const stem of [
      `${fits}x`,
      "ä".repeat(130),
      "white space",
      "line\r\nend",
      "tab\t",
      "del\x7f",
      "nul\0",
    ]) {
      const neighbour = countOne(store, {
        stem: `neighbour${stem.length}${stem.charCodeAt(0)}${stem.charCodeAt(3)}`,
      });
      await countFails(store, "KEY_UNUSABLE", { stem });
      assert.equal(await neighbour, 1);
    }
    assert.equal(await countOne(store, { stem: "ä".repeat(115) }), 1);
  });

  test("reads hundreds of the longest keys in one request", async (t) => {
    const store = open(t, { nodes: [nodes[0]!], maxIdleConnections: 1 });
    const length = 250 - String(windowOf(3600)).length;
    const counts = Array.from({ length: 300 }, (_, i) =>
      makeCount({ stem: `longest${i}|`.padEnd(length, "x"), hits: i }),
    );
    await store.count(makeRequest(counts));
    await store.count(makeRequest(counts));
    for (const [i, { after }] of counts.entries()) assert.equal(after, 2 * i);
  });

  test("opens connections to each node on demand, up to a maximum, and keeps them", async (t) => {
    const proxy = await FaultyProxy.start(servers[0]!.port);
    t.after(() => proxy.stop());
    for (const [setting, expected] of [
      [1, 1],
      [3, 3],
      [0, 2],
      [undefined, 2],
    ] as const) {
      const before = proxy.accepted;
      const store = makeObjcache({
        nodes: [proxy.url],
        ...(setting !== undefined && { maxIdleConnections: setting }),
      });
      assert.equal(store.gauges.cxActive, 0);
      const calls = Array.from({ length: 200 }, (_, i) =>
        countOne(store, { stem: `${stemOf(t)}${setting}-${i}:` }),
      );
      assert.deepEqual(new Set(await Promise.all(calls)), new Set([1]));
      assert.equal(proxy.accepted - before, expected);
      const { nodes: known, cxActive, cxTotal } = store.gauges;
      assert.deepEqual([known, cxActive, cxTotal], [1, expected, expected]);
      await store.close();
      assert.equal(store.gauges.cxActive, 0);
    }
  });

  test("a request of one counter holds nothing back", async (t) => {
    const store = open(t);
    const stem = stemOf(t);
    const requests = Array.from({ length: 50 }, () =>
      makeRequest([makeCount({ stem, limit: 10 })], { holdBack: HoldBack.WHEN_REFUSED }),
    );
    for (const request of requests) await store.count(request);
    assert.deepEqual(
      requests.map(({ counts }) => counts[0]!.after),
      requests.map((_, index) => index + 1),
    );
  });

  test("counts the results of reads, increments and creations", async (t) => {
    const proxy = await FaultyProxy.start(servers[0]!.port);
    t.after(() => proxy.stop());
    const store = open(t, { nodes: [proxy.url], maxIdleConnections: 1 });
    const stem = stemOf(t);
    const added = async (work: () => Promise<unknown>) => {
      const before = { ...store.gauges };
      await work();
      await store.flushed();
      const changes = Object.entries(store.gauges).map(([name, value]) => [
        name,
        value - before[name as keyof typeof before],
      ]);
      return Object.fromEntries(changes.filter(([, change]) => change !== 0));
    };
    const connected = { cxActive: 1, cxTotal: 1 };
    const read = { multigetSuccess: 1, keysRequested: 1 };
    assert.deepEqual(await added(() => countOne(store, { stem })), {
      ...connected,
      ...read,
      addSuccess: 1,
      incrementSuccess: 1,
    });
    assert.deepEqual(await added(() => countOne(store, { stem })), {
      ...read,
      keysFound: 1,
      incrementSuccess: 1,
    });
    const reads = async () => {
      const text = await servers[0]!.command("stats\r\n", /END\r\n$/);
      return Number(/cmd_get (\d+)/.exec(text)![1]);
    };
    const evicted = async () => {
      const before = await reads();
      proxy.held = () => true;
      const counted = countOne(store, { stem });
      await until("it was read", async () => (await reads()) > before);
      await servers[0]!.command(`delete ${keyOf(stem)}\r\n`, /DELETED/);
      proxy.held = () => false;
      await counted;
    };
    assert.deepEqual(await added(evicted), {
      ...read,
      keysFound: 1,
      incrementMiss: 1,
      addSuccess: 1,
      incrementSuccess: 1,
    });
    proxy.cutAfter = 3;
    const failed = await added(() => countFails(store, "STORE_UNAVAILABLE", { stem }));
    assert.deepEqual([failed.multigetError, failed.multigetSuccess], [1, undefined]);
  });

  describe("when a node is unavailable", () => {
    test("stopped: a call fails within the timeout, and the connection is reopened", async (t) => {
      const server = await MemcachedServer.start();
      t.after(() => server.stop());
      const store = open(t, { nodes: [server.url], timeout: scaled(150) });
      const stem = stemOf(t);
      assert.equal(await countOne(store, { stem }), 1);
      await store.flushed();
      await server.pause();
      const { took } = await countFails(store, "STORE_TIMEOUT", { stem });
      assert.ok(took >= 140 && took < scaled(1500), `after ${took} ms`);
      server.resume();
      await until("it counts again", () =>
        countOne(store, { stem }).then(
          () => true,
          () => false,
        ),
      );
    });

    test("killed: its keys fail at once, other keys succeed, and counting continues when it returns", async (t) => {
      const server = await MemcachedServer.start();
      t.after(() => server.stop());
      const list = [server.url, nodes[0]!];
      const store = open(t, { nodes: list });
      const stems = Array.from({ length: 20 }, (_, i) => `${stemOf(t)}${i}:`);
      const onSick = stems.find((stem) => crc32(keyOf(stem)) % 2 === 0)!;
      const onWell = stems.find((stem) => crc32(keyOf(stem)) % 2 === 1)!;
      assert.equal(await countOne(store, { stem: onSick, hits: 7 }), 7);
      await server.stop();
      for (let i = 0; i < 5; i++) {
        const { took } = await countFails(store, "STORE_UNAVAILABLE", { stem: onSick });
        assert.ok(took < scaled(400), `${took} ms`);
        assert.equal(await countOne(store, { stem: onWell }), i + 1);
      }
      await server.restart();
      let value = 0;
      await until("it counts again", () =>
        countOne(store, { stem: onSick }).then(
          (after) => {
            value = after;
            return true;
          },
          () => false,
        ),
      );
      assert.equal(value, 1);
    });

    test("closed in the middle of a reply: the call fails, and its hits are lost at most once", async (t) => {
      const proxy = await FaultyProxy.start(servers[0]!.port);
      t.after(() => proxy.stop());
      const store = open(t, { nodes: [proxy.url], maxIdleConnections: 1 });
      const stem = stemOf(t);
      for (let i = 1; i <= 3; i++) assert.equal(await countOne(store, { stem }), i);
      await store.flushed();
      proxy.cutAfter = 10;
      await countFails(store, "STORE_UNAVAILABLE", { stem });
      assert.equal(await countOne(store, { stem }), 4);
      await store.flushed();
      assert.equal(await servers[0]!.get(keyOf(stem)), "4");
    });

    test("a caller's deadline bounds its wait", async (t) => {
      const proxy = await FaultyProxy.start(servers[0]!.port);
      t.after(() => proxy.stop());
      const store = open(t, { nodes: [proxy.url], maxIdleConnections: 1, timeout: scaled(5000) });
      const stem = stemOf(t);
      await countOne(store, { stem });
      await store.flushed();
      proxy.held = () => true;
      const patient = countOne(store, { stem });
      const { took } = await countFails(store, "DEADLINE_EXCEEDED", { stem }, within(scaled(50)));
      assert.ok(took >= 45 && took < scaled(1000), `after ${took} ms`);
      await countFails(store, "DEADLINE_EXCEEDED", { stem }, { now: 5, deadline: 5 });
      proxy.held = () => false;
      assert.equal(await patient, 2);
    });

    test("fails calls at once when the queue is full", async (t) => {
      const proxy = await FaultyProxy.start(servers[0]!.port);
      t.after(() => proxy.stop());
      const store = open(t, {
        nodes: [proxy.url],
        maxIdleConnections: 1,
        maxWaiting: 5,
        timeout: scaled(5000),
      });
      const stem = stemOf(t);
      await countOne(store, { stem });
      await store.flushed();
      proxy.held = () => true;
      const first = countOne(store, { stem });
      await until("the first call is sent", () => proxy.open === 1);
      await sleep(10);
      const five = Array.from({ length: 5 }, (_, i) => countOne(store, { stem: `${stem}${i}:` }));
      await countFails(store, "STORE_FULL", { stem });
      proxy.held = () => false;
      assert.deepEqual([await first, ...(await Promise.all(five))], [2, 1, 1, 1, 1, 1]);
    });

    test("out of memory: the answers are right within the process, and lost hits are counted", async (t) => {
      const server = await MemcachedServer.start({ args: ["-M", "-m", "2"] });
      t.after(() => server.stop());
      // Fills the memory with items of the same size as counters.
      for (let i = 0, full = false; !full; i += 500) {
        const sets = Array.from({ length: 500 }, (_, j) => {
          const key = `filler${i + j}`.padEnd(keyOf(`${stemOf(t)}0:`).length, "x");
          return `set ${key} 0 0 1\r\n0\r\n`;
        });
        const answer = await server.command(`${sets.join("")}version\r\n`, /VERSION.*\r\n$/s);
        full = answer.includes("SERVER_ERROR");
      }
      const store = open(t, { nodes: [server.url] });
      assert.equal(await countOne(store, { stem: `${stemOf(t)}0:`, hits: 3 }), 3);
      await store.flushed();
      assert.equal(store.gauges.incrementsLost, 3);
    });
  });

  describe("TLS", () => {
    const files = certificates();
    const trusted = { caFile: files.ca, certFile: files.client, keyFile: files.clientKey };
    const serverArgs = (certificate: string, key: string) => [
      "-Z",
      "-o",
      `ssl_chain_cert=${certificate},ssl_key=${key},ssl_ca_cert=${files.ca},ssl_verify_mode=2`,
    ];
    let right: MemcachedServer;
    let wrongName: MemcachedServer;
    before(async () => {
      right = await MemcachedServer.start({ args: serverArgs(files.server, files.serverKey), tls: trusted });
      wrongName = await MemcachedServer.start({
        args: serverArgs(files.wrongName, files.wrongNameKey),
        tls: { ...trusted, skipHostnameVerification: true },
      });
    });
    after(() => Promise.all([right.stop(), wrongName.stop()]));

    test("client certificate and CA, by address and by name, and a wrong name without the check", async (t) => {
      for (const options of [
        { nodes: [right.url], tls: trusted },
        { nodes: [`localhost:${right.port}`], tls: trusted },
        { nodes: [wrongName.url], tls: { ...trusted, skipHostnameVerification: true } },
      ])
        assert.equal(await countOne(open(t, options), { stem: `tls|${options.nodes[0]}|hour:` }), 1);
    });

    const bad: [string, () => TestObjcache][] = [
      ["no client certificate", () => ({ nodes: [right.url], tls: { caFile: files.ca } })],
      [
        "an authority that did not sign it",
        () => ({ nodes: [right.url], tls: { ...trusted, caFile: files.otherCa } }),
      ],
      ["a wrong name", () => ({ nodes: [wrongName.url], tls: trusted })],
      ["plain text to a TLS port", () => ({ nodes: [right.url], timeout: scaled(200) })],
    ];
    for (const [name, options] of bad)
      test(`refused: ${name}`, async (t) => {
        const store = open(t, options());
        await assert.rejects(countOne(store, { stem: "tls|refused|hour:" }), { name: "StoreError" });
      });
  });

  describe("SRV", () => {
    const srv = "_memcache._tcp.cache.example";
    const record = (server: MemcachedServer) => ({ target: "localhost", port: server.port });

    test("takes the nodes from the records, sorted", async (t) => {
      const dns = await DnsServer.start([record(servers[2]!), record(servers[0]!), record(servers[1]!)]);
      t.after(() => dns.stop());
      const store = open(t, { srv, dnsServers: [dns.url] });
      const sorted = [...servers].sort((a, b) => (`localhost:${a.port}` < `localhost:${b.port}` ? -1 : 1));
      for (let i = 0; i < 10; i++) {
        const stem = `${stemOf(t)}${i}:`;
        assert.equal(await countOne(store, { stem }), 1);
        await store.flushed();
        const key = keyOf(stem);
        assert.equal(await sorted[crc32(key) % 3]!.get(key), "1");
      }
      assert.equal(dns.asked, 1, "one query without a refresh");
    });

    test("a refresh adds and removes nodes, and a failed refresh keeps the list", async (t) => {
      const dns = await DnsServer.start([record(servers[0]!)]);
      t.after(() => dns.stop());
      const store = open(t, { srv, dnsServers: [dns.url], srvRefresh: 20 });
      const stem = stemOf(t);
      assert.equal(await countOne(store, { stem, hits: 5 }), 5);
      dns.records = [record(servers[1]!)];
      await until("the new node counts", async () => (await countOne(store, { stem, hits: 0 })) === 0);
      assert.equal(await countOne(store, { stem, hits: 2 }), 2);
      dns.failing = true;
      const { asked } = dns;
      await until("it was asked again", () => dns.asked > asked + 2);
      assert.equal(await countOne(store, { stem, hits: 1 }), 3);
      dns.failing = false;
      dns.records = [record(servers[0]!)];
      await until("the former node counts", async () => (await countOne(store, { stem, hits: 0 })) === 5);
      await until("the other one's connections are closed", () => store.gauges.cxActive === 1);
    });

    test("calls fail until the first lookup succeeds", async (t) => {
      const dns = await DnsServer.start([record(servers[0]!)]);
      t.after(() => dns.stop());
      dns.failing = true;
      const said: string[] = [];
      const store = open(t, { srv, dnsServers: [dns.url], log: (_, message) => said.push(message) });
      const { took } = await countFails(store, "STORE_UNAVAILABLE");
      assert.ok(took < scaled(1000), `${took} ms`);
      dns.failing = false;
      await until("it counts", () =>
        countOne(store, { stem: stemOf(t) }).then(
          () => true,
          () => false,
        ),
      );
      assert.match(said.join(), /could not look up/);
    });
  });

  test("refuses invalid options at once", async () => {
    const port = await freePort();
    const cases: [TestObjcache, RegExp][] = [
      [{}, /either nodes/],
      [{ nodes: [] }, /OBJCACHE_HOST_PORT must be set/],
      [{ nodes: [`a:${port}`], srv: "_a._b.c" }, /either nodes/],
      [{ nodes: ["a"] }, /must be host:port items, separated by commas; invalid: "a"/],
      [{ srv: "cache.example" }, /_service._proto.name/],
      [{ nodes: ["a:1"], tls: { keyFile: "/nonexistent" } }, /needs its key/],
    ];
    for (const [options, message] of cases) assert.throws(() => makeObjcache(options), message);
  });
});
