/** KVSTORE_PERSECOND: windows of one second on a second instance, in every combination of two types. */
import assert from "node:assert/strict";
import { after, before, describe, type TestContext, test } from "node:test";
import { scaled } from "../../../../tools/time-scale.ts";
import { PerSecondStore } from "../../src/counters/kvstore/per-second.ts";
import { HoldBack, Outcome } from "../../src/counters/store.ts";
import { RedisCluster } from "../servers/cluster.ts";
import { FaultyProxy } from "../servers/proxy.ts";
import { RedisServer } from "../servers/redis.ts";
import { SentinelGroup } from "../servers/sentinel.ts";
import { makeCount, makeRequest, storeConformance } from "./conformance.ts";
import { makeKvstore } from "./kvstore-support.ts";

const types = ["single", "sentinel", "cluster"] as const;

describe("kvstore: the per-second instance", () => {
  const urls = { single: ["", ""], sentinel: ["", ""], cluster: ["", ""] };
  const running: { stop(): Promise<void> }[] = [];
  let main: RedisServer;
  let second: RedisServer;

  before(async () => {
    main = await RedisServer.start();
    second = await RedisServer.start();
    const group = await SentinelGroup.start({ sentinels: 1 });
    const cluster = await RedisCluster.start(3);
    running.push(main, second, group, cluster);
    urls.single = [main.url, second.url];
    // Both instances use the same servers: keys of a second never collide with keys of longer windows.
    urls.sentinel = [group.url, group.url];
    urls.cluster = [cluster.url, cluster.url];
  });
  after(() => Promise.all(running.map((server) => server.stop())));

  const open = (one: (typeof types)[number], two: (typeof types)[number]) =>
    new PerSecondStore(
      makeKvstore({ type: one, url: urls[one][0]!, poolSize: 2 }),
      makeKvstore({ type: two, url: urls[two][1]!, poolSize: 2 }),
    );

  for (const one of types)
    for (const two of types)
      test(`${one} and ${two}`, async (t) => {
        const store = open(one, two);
        t.after(() => store.close());
        const stem = `twin|${one}-${two}|`;
        const counts = () => [
          makeCount({ stem: `${stem}second:`, windowSize: 1, windowStart: 1_700_000_000, hits: 2 }),
          makeCount({ stem: `${stem}hour:`, hits: 3 }),
          makeCount({ stem: `${stem}minute:`, windowSize: 60, windowStart: 1_700_000_040 }),
        ];
        for (let i = 1; i <= 3; i++) {
          const request = makeRequest(counts());
          await store.count(request);
          assert.deepEqual(
            request.counts.map(({ after }) => after),
            [2 * i, 3 * i, i],
          );
        }
      });

  storeConformance("kvstore with a per-second instance", { makeStore: () => open("single", "single") });

  async function pair(t: TestContext) {
    const proxy = await FaultyProxy.start(second.port);
    t.after(() => proxy.stop());
    const refunded: string[] = [];
    const store = new PerSecondStore(
      makeKvstore({ url: main.url }),
      makeKvstore({ url: proxy.url, poolSize: 1, timeout: scaled(300) }),
      (counts) => refunded.push(...counts.map(({ stem }) => stem)),
    );
    t.after(() => store.close());
    return { store, proxy, refunded };
  }

  test("each window goes to its own instance", async (t) => {
    const { store } = await pair(t);
    const counts = [
      makeCount({ stem: "own|second:", windowSize: 1, windowStart: 1_700_000_000 }),
      makeCount({ stem: "own|day:", windowSize: 86_400 }),
    ];
    await store.count(makeRequest(counts));
    await store.count(makeRequest([counts[0]!]));
    await store.count(makeRequest([counts[1]!]));
    const keys = async (server: RedisServer) => (await server.command("KEYS", "own|*")) as string[];
    assert.deepEqual(await keys(second), ["own|second:1700000000"]);
    assert.deepEqual(await keys(main), [`own|day:${counts[1]!.windowStart}`]);
    assert.deepEqual([counts[0]!.after, counts[1]!.after], [2, 2]);
  });

  test("counts on both at the same time, and fails after both have ended", async (t) => {
    const { store, proxy } = await pair(t);
    const request = () =>
      makeRequest([
        makeCount({ stem: "both|second:", windowSize: 1, windowStart: 1_700_000_000 }),
        makeCount({ stem: "both|hour:" }),
      ]);
    await store.count(request());
    proxy.held = () => true;
    const failing = request();
    await assert.rejects(async () => store.count(failing), { code: "STORE_TIMEOUT" });
    assert.equal(failing.counts[1]!.after, 2, "the main instance did not wait for the other one");
    proxy.held = () => false;
    await store.count(makeRequest([failing.counts[1]!]));
    assert.equal(failing.counts[1]!.after, 3);
  });

  test("refunds one instance when the other one refuses", async (t) => {
    const { store, refunded } = await pair(t);
    const limit = 15;
    const requests = Array.from({ length: 60 }, (_, i) =>
      makeRequest(
        [
          makeCount({ stem: "between|second:", windowSize: 1, windowStart: 1_700_000_000, limit }),
          makeCount({ stem: `between|${i % 3}|hour:`, limit: 1000 }),
        ],
        { holdBack: HoldBack.WHEN_REFUSED },
      ),
    );
    await Promise.all(requests.map((request) => store.count(request)));
    const passed = requests.filter(({ counts }) =>
      counts.every(({ outcome }) => outcome === Outcome.COUNTED),
    );
    assert.equal(passed.length, limit);
    for (const { counts } of requests)
      assert.deepEqual(
        counts.map(({ outcome }) => outcome),
        [Outcome.COUNTED, counts[0]!.after > limit ? Outcome.HELD : Outcome.COUNTED],
      );
    // The looks of one turn are one batch, before the first count.
    assert.ok(refunded.length > 0 && refunded.length <= requests.length - limit, String(refunded.length));
    for (const stem of refunded) assert.match(stem, /^between\|\d\|hour:$/);
    const looks = [0, 1, 2].map((i) => makeCount({ stem: `between|${i}|hour:`, hits: 0 }));
    await store.count(makeRequest(looks));
    assert.equal(
      looks.reduce((sum, { after }) => sum + after, 0),
      limit,
    );
  });
});
