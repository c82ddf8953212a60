/** An unusable reply to one caller of a batch does not affect the other callers. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, type TestContext, test } from "node:test";
import { scaled } from "../../../../tools/time-scale.ts";
import { ReplyReader } from "../../src/counters/kvstore/resp/reader.ts";
import { noTracing, type Tracing } from "../../src/observe/tracing/tracing.ts";
import { MemcachedServer } from "../servers/memcached.ts";
import { RedisServer } from "../servers/redis.ts";
import { countFails, countOne, makeKvstore, makeObjcache } from "./kvstore-support.ts";

/** A cluster of one server with all slots. It gives a chosen reply to INCRBY for keys that contain `bad`. */
async function startCluster(t: TestContext, bad: string): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    const { port } = server.address() as AddressInfo;
    const answers: Record<string, (key: string) => string> = {
      PING: () => "+PONG\r\n",
      CLUSTER: () => `*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:${port}\r\n`,
      INCRBY: (key) => (key.includes("bad") ? `${bad}\r\n` : ":1\r\n"),
      EXPIRE: () => ":1\r\n",
      ASKING: () => "+OK\r\n",
    };
    // Commands are arrays of bulk strings, so a reply reader can parse them.
    const reader = new ReplyReader({
      reply(command) {
        const [name, key] = command as string[];
        socket.write(answers[name!]!(key ?? ""));
      },
    });
    socket.on("data", (chunk: Buffer) => reader.feed(chunk));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const replies = [
  "-MOVED",
  "-MOVED 5",
  "-MOVED x y",
  "-MOVED -1 127.0.0.1:7000",
  "-MOVED 99999999 127.0.0.1:7000",
  "-MOVED 5 127.0.0.1:99999",
  "-MOVED 5 127.0.0.1:",
  "-ASK",
  "-ASK 5",
  "-ASK 5 nonsense",
  "-",
  "+text",
  "*0",
];

describe("kvstore: an unusable reply", () => {
  for (const reply of replies)
    test(`${JSON.stringify(reply)} fails only its own caller`, {
      timeout: scaled(20_000),
    }, async (t) => {
      const url = await startCluster(t, reply);
      const store = makeKvstore({ type: "cluster", url, poolSize: 1, timeout: 60_000, onEmpty: "WAIT" });
      t.after(() => store.close());
      await countOne(store, { stem: "warm:" });
      const [, ...good] = await Promise.all([
        countFails(store, "STORE_UNAVAILABLE", { stem: "bad:" }),
        countOne(store, { stem: "good1:" }),
        countOne(store, { stem: "good2:" }),
      ]);
      assert.deepEqual(good, [1, 1]);
      assert.equal(await countOne(store, { stem: "later:" }), 1, "the connection is reused");
    });
});

describe("a batch that fails before it is sent", () => {
  /** Tracing that fails in its second round trip. */
  function failingTracing(): Tracing {
    let trips = 0;
    return {
      ...noTracing,
      enabled: true,
      startRoundTrip() {
        trips += 1;
        if (trips === 2) throw new TypeError("a fault in the code");
        return undefined;
      },
    };
  }

  for (const [kind, open] of Object.entries({
    kvstore: async (t: TestContext) => {
      const redis = await RedisServer.start();
      t.after(() => redis.stop());
      return makeKvstore({ url: redis.url, poolSize: 1, onEmpty: "WAIT", tracing: failingTracing() });
    },
    objcache: async (t: TestContext) => {
      const memcached = await MemcachedServer.start();
      t.after(() => memcached.stop());
      return makeObjcache({ nodes: [memcached.url], maxIdleConnections: 1, tracing: failingTracing() });
    },
  }))
    test(`${kind}: fails its callers at once, and the next batch is sent`, {
      timeout: scaled(20_000),
    }, async (t) => {
      const store = await open(t);
      t.after(() => store.close());
      assert.equal(await countOne(store, { stem: "first:" }), 1);
      const stems = ["a:", "b:", "c:"];
      await Promise.all(stems.map((stem) => countFails(store, "STORE_UNAVAILABLE", { stem, hits: 0 })));
      for (const stem of stems) assert.equal(await countOne(store, { stem }), 1);
    });
});
