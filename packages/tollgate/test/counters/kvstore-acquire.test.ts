/** Sliding windows, token buckets and lists of limits in Redis: conformance on every topology, and the protocol. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, type TestContext, test } from "node:test";
import fc from "fast-check";
import { scaled } from "../../../../tools/time-scale.ts";
import type { AlgorithmName } from "../../src/counters/algorithms/algorithm.ts";
import { algorithms } from "../../src/counters/algorithms/algorithms.ts";
import { mulDivCeil, mulDivFloor } from "../../src/counters/algorithms/exact.ts";
import type { Grant } from "../../src/counters/counter-admin.ts";
import type { KvstoreStore } from "../../src/counters/kvstore/kvstore.ts";
import { KvstoreAdmin } from "../../src/counters/kvstore/kvstore-admin.ts";
import { PerSecondStore } from "../../src/counters/kvstore/per-second.ts";
import { slotOf } from "../../src/counters/kvstore/slots.ts";
import { MUL_DIV } from "../../src/counters/kvstore/states-script.ts";
import {
  type AcquireRequest,
  type CounterStore,
  HoldBack,
  Outcome,
  Refuses,
} from "../../src/counters/store.ts";
import { RedisCluster } from "../servers/cluster.ts";
import { FaultyProxy } from "../servers/proxy.ts";
import { RedisServer } from "../servers/redis.ts";
import { SentinelGroup } from "../servers/sentinel.ts";
import {
  acquireConformance,
  type GroupFields,
  type LimitFields,
  makeAcquire,
} from "./acquire-conformance.ts";
import { AcquireModel } from "./acquire-model.ts";
import { placeOfText } from "./conformance.ts";
import { makeKvstore, type TestKvstore } from "./kvstore-support.ts";

/** Opens a store whose clock is that of its requests, and whose keys live long enough for any virtual time. */
function openVirtual(t: TestContext, options: TestKvstore): VirtualStore {
  t.mock.method(Math, "random", () => 0.99);
  let now = 0;
  const store = makeKvstore({ poolSize: 2, ...options, clock: () => now });
  const control = store.control();
  const admin = new KvstoreAdmin(control, "", () => now);
  return {
    grant(grant) {
      now = grant.now * 1000;
      return admin.grant(grant);
    },
    kind: store.kind,
    count: (request) => store.count(request),
    acquire(request) {
      now = request.now * 1000;
      return store.acquire(request);
    },
    async close() {
      control.close();
      await store.close();
    },
  };
}

interface VirtualStore extends CounterStore {
  grant(grant: Grant): Promise<void>;
}

const grantVirtual = (store: CounterStore, grant: Grant) => (store as VirtualStore).grant(grant);

/** Gives a store every second stem of limits as a place, so that calls have places and texts of equal stems. */
function openInPlace(t: TestContext, options: TestKvstore): CounterStore {
  const store = openVirtual(t, options);
  let limits = 0;
  return {
    ...store,
    async acquire(request) {
      const groups = request.groups.map((group) => ({
        ...group,
        limits: group.limits.map((limit) =>
          limits++ % 2 === 0 ? { ...limit } : { ...limit, stem: "", place: placeOfText(limit.stem) },
        ),
      }));
      await store.acquire!({ ...request, groups });
      for (const [i, { outcome, accepted, limits }] of groups.entries()) {
        Object.assign(request.groups[i]!, { outcome, accepted });
        for (const [j, { accepted, used, remaining, reset }] of limits.entries())
          Object.assign(request.groups[i]!.limits[j]!, { accepted, used, remaining, reset });
      }
    },
  };
}

const HOUR = 3600;
const stemOf = (t: TestContext) => `acquire|${t.name.replaceAll(/\W+/g, "_")}=${randomUUID()}|`;

async function ask(
  store: CounterStore,
  groups: readonly GroupFields[],
  now = Date.now(),
  holdBack?: HoldBack,
) {
  const request = makeAcquire(groups, now, holdBack);
  await store.acquire!(request);
  return request.groups;
}

/** Whether each of some concurrent requests is accepted. */
async function askTogether(store: CounterStore, requests: readonly AcquireRequest[]): Promise<boolean[]> {
  await Promise.all(requests.map((request) => store.acquire!(request)));
  return requests.map(({ groups }) => groups.every(({ accepted }) => accepted));
}

describe("kvstore: limits of every algorithm", () => {
  let redis: RedisServer;
  let second: RedisServer;
  let cluster: RedisCluster;
  let sentinel: SentinelGroup;
  before(async () => {
    redis = await RedisServer.start();
    second = await RedisServer.start();
    cluster = await RedisCluster.start(3);
    sentinel = await SentinelGroup.start({ sentinels: 1 });
  });
  after(() => Promise.all([redis, second, cluster, sentinel].map((server) => server.stop())));

  function open(t: TestContext, options: Partial<TestKvstore> = {}): KvstoreStore {
    const store = makeKvstore({ url: redis.url, poolSize: 1, ...options });
    t.after(() => store.close());
    return store;
  }

  acquireConformance("kvstore single", {
    makeStore: (t) => openVirtual(t, { url: redis.url }),
    makePeer: (t) => openVirtual(t, { url: redis.url }),
    grant: grantVirtual,
    runs: 30,
  });
  acquireConformance("kvstore single, stems in place and as texts", {
    makeStore: (t) => openInPlace(t, { url: redis.url }),
    makePeer: (t) => openInPlace(t, { url: redis.url }),
    grant: grantVirtual,
    runs: 30,
  });
  acquireConformance("kvstore sentinel", {
    makeStore: (t) => openVirtual(t, { type: "sentinel", url: sentinel.url }),
    makePeer: (t) => openVirtual(t, { type: "sentinel", url: sentinel.url }),
    runs: 10,
  });
  acquireConformance("kvstore cluster", {
    makeStore: (t) => openVirtual(t, { type: "cluster", url: cluster.url }),
    makePeer: (t) => openVirtual(t, { type: "cluster", url: cluster.url }),
    grant: grantVirtual,
    distinct: true,
    runs: 15,
  });
  acquireConformance("kvstore with a per-second instance", {
    makeStore: (t) =>
      new PerSecondStore(openVirtual(t, { url: redis.url }), openVirtual(t, { url: second.url })),
    distinct: true,
    runs: 15,
  });

  const list = (stem: string, limit: number): LimitFields[] => [
    { stem: `{${stem}}sliding:60`, algorithm: "sliding_window", limit, windowSize: 60 },
    { stem: `{${stem}}bucket:86400`, algorithm: "token_bucket", limit: limit * 10, windowSize: 86_400 },
  ];

  /** Requests of every kind for some keys: single limits, lists, and several groups that may hold each other back. */
  function mixed(stem: string, many: number, now: number): AcquireRequest[] {
    return Array.from({ length: many }, (_, i) => {
      const key = `${stem}${i % 5}`;
      const groups: GroupFields[] = [
        { limits: [{ stem: `{${key}}sliding:`, algorithm: "sliding_window" }] },
        { limits: list(key, 10) },
        { limits: [{ stem: `{${key}}hour:`, algorithm: "accepted_window" }], hits: i % 3 },
      ];
      return makeAcquire(
        i % 2 ? groups : groups.slice(i % 3, (i % 3) + 1),
        now,
        i % 4 ? HoldBack.WHEN_REFUSED : HoldBack.NEVER,
      );
    });
  }

  test("one script call decides all limits of all requests of a batch", async (t) => {
    const store = open(t);
    const stem = stemOf(t);
    await ask(store, [{ limits: list(stem, 5) }]);
    const before = await redis.calls("evalsha");
    const requests = mixed(stem, 90, Date.now());
    await askTogether(store, requests);
    for (const { groups } of requests)
      for (const { limits } of groups) for (const { reset } of limits) assert.ok(reset > 0);
    assert.equal((await redis.calls("evalsha")) - before, 1);
  });

  test("in a cluster, one call for each slot decides all limits of a batch", async (t) => {
    const store = open(t, { type: "cluster", url: cluster.url });
    const stem = stemOf(t);
    const calls = async () => {
      let sum = 0;
      for (const node of cluster.nodes) sum += (await node.calls("eval")) + (await node.calls("evalsha"));
      return sum;
    };
    const slots = new Set(Array.from({ length: 5 }, (_, i) => slotOf(`{${stem}${i}}`)));
    const requests = () =>
      mixed(stem, 60, Date.now()).map((request) => ({ ...request, holdBack: HoldBack.NEVER }));
    // The first calls wait until all connections are open.
    await askTogether(store, requests());
    const before = await calls();
    await askTogether(store, requests());
    assert.equal((await calls()) - before, slots.size);
  });

  test("batches of lists and limits that share counters are decided in their order, as in the model", async (t) => {
    const store = openVirtual(t, { url: redis.url, poolSize: 1 });
    t.after(() => store.close());
    const limit = (stem: string): LimitFields => {
      const algorithm = ({ a: "sliding_window", b: "token_bucket", c: "accepted_window" } as const)[stem]!;
      return { stem, algorithm, limit: 6, windowSize: 60 };
    };
    const asked = fc.record({
      stems: fc.constantFrom("a", "b", "c", "ab", "ac", "abc"),
      hits: fc.constantFrom(1, 1, 1, 2, 0, -1),
    });
    const batch = fc.record({ after: fc.nat(40_000), asked: fc.array(asked, { maxLength: 12 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(batch, { maxLength: 6 }), async (batches) => {
        const prefix = `{${stemOf(t)}}`;
        const model = new AcquireModel();
        let now = Date.now();
        for (const { after, asked } of batches) {
          now += after;
          const requests = () =>
            asked.map(({ stems, hits }) => {
              const limits = [...stems].map((stem) => ({ ...limit(stem), stem: `${prefix}${stem}:` }));
              return makeAcquire([{ limits, hits }], now);
            });
          const [found, expected] = [requests(), requests()];
          for (const request of expected) model.acquire(request);
          await Promise.all(found.map((request) => store.acquire!(request)));
          assert.deepEqual(found, expected);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("the store's clock decides sliding windows and buckets, and replicas with wrong clocks agree", async (t) => {
    const replicas = [open(t), open(t), open(t)];
    const skews = [0, 5 * HOUR * 1000, -5 * HOUR * 1000];
    for (const algorithm of ["sliding_window", "token_bucket"] as const) {
      const limits = [{ stem: `${stemOf(t)}${algorithm}`, algorithm, limit: 4, windowSize: 86_400 * 365 }];
      const accepted: boolean[] = [];
      for (let i = 0; i < 6; i++) {
        const [group] = await ask(replicas[i % 3]!, [{ limits }], Date.now() + skews[i % 3]!);
        accepted.push(group!.accepted);
      }
      assert.deepEqual(accepted, [true, true, true, true, false, false], algorithm);
    }
  });

  test("the request's clock decides fixed windows, also beside limits of the store's clock", async (t) => {
    const store = open(t);
    // 10 minutes before the end of an hour that is long past.
    const now = (Math.floor(Date.now() / HOUR / 1000) * HOUR - 48 * HOUR + 3000) * 1000;
    const windows = (stem: string) =>
      (["fixed_window", "accepted_window"] as const).map((algorithm) => ({
        stem: `${stem}${algorithm}:`,
        algorithm,
      }));
    const bucket = (stem: string) => ({ stem: `${stem}bucket`, algorithm: "token_bucket" as const });
    for (const groups of [
      ...windows(stemOf(t)).map((window) => [{ limits: [window] }]),
      windows(stemOf(t)).map((window) => ({ limits: [window] })),
      [{ limits: [windows(`{${stemOf(t)}}`)[1]!, bucket(`{${stemOf(t)}}`)] }],
    ])
      for (const holdBack of [HoldBack.NEVER, HoldBack.WHEN_REFUSED])
        for (const { limits } of await ask(store, groups, now, holdBack)) assert.equal(limits[0]!.reset, 600);
  });

  test("a window of the clock's request has its own key, other states have one key", async (t) => {
    const store = open(t);
    const stem = stemOf(t);
    const start = Math.floor(Date.now() / HOUR / 1000) * HOUR;
    const microseconds = async () => {
      const [seconds, rest] = (await redis.command("TIME")) as string[];
      return Number(seconds) * 1e6 + Number(rest);
    };
    const before = await microseconds();
    await ask(store, [
      { limits: [{ stem: `${stem}fixed:3600:`, algorithm: "accepted_window" }], hits: 3 },
      { limits: [{ stem: `${stem}hour:` }], hits: 4 },
      { limits: list(stem, 5), hits: 2 },
    ]);
    const after = await microseconds();
    const keys = (await redis.command("KEYS", `*${stem}*`)) as string[];
    assert.deepEqual(keys.sort(), [
      `${stem}fixed:3600:${start}`,
      `${stem}hour:${start}`,
      `{${stem}}bucket:86400`,
      `{${stem}}sliding:60`,
    ]);
    assert.equal(await redis.command("GET", `${stem}fixed:3600:${start}`), "3");
    assert.equal(await redis.command("GET", `${stem}hour:${start}`), "4");
    assert.match((await redis.command("GET", `{${stem}}sliding:60`)) as string, /^2 \d{16} 0$/);
    assert.match((await redis.command("GET", `{${stem}}bucket:86400`)) as string, /^48000000 \d{16}$/);
    for (const key of [`{${stem}}sliding:60`, `{${stem}}bucket:86400`]) {
      const at = Number(((await redis.command("GET", key)) as string).split(" ")[1]);
      assert.ok(at >= before && at <= after, "the instant has microseconds");
    }
  });

  test("a key expires when its state has ended, and looks and refused hits create no key", async (t) => {
    const store = open(t, { expirationJitterMaxSeconds: 0 });
    const stem = stemOf(t);
    const ttl = async (key: string) => Number(await redis.command("TTL", key));
    const start = Math.floor(Date.now() / HOUR / 1000) * HOUR;
    const sliding = [{ stem: `${stem}sliding`, algorithm: "sliding_window" as const, windowSize: HOUR }];
    const bucket = [
      { stem: `${stem}bucket`, algorithm: "token_bucket" as const, limit: 10, windowSize: HOUR },
    ];
    const fixed = [{ stem: `${stem}fixed:`, algorithm: "accepted_window" as const }];
    const huge = [
      {
        stem: `${stem}huge`,
        algorithm: "token_bucket" as const,
        limit: 1,
        burst: 1e9,
        windowSize: 315_360_000,
      },
    ];
    for (const limits of [sliding, bucket, fixed])
      await ask(store, [
        { limits, hits: 0 },
        { limits, hits: 11 },
      ]);
    assert.deepEqual(await redis.command("KEYS", `${stem}*`), []);
    for (const limits of [sliding, bucket, fixed]) await ask(store, [{ limits, hits: 5 }]);
    await ask(store, [{ limits: huge, hits: 1e9 }]);
    const times = [
      await ttl(`${stem}sliding`),
      await ttl(`${stem}bucket`),
      await ttl(`${stem}fixed:${start}`),
    ];
    assert.ok(times[0]! > HOUR - 60 && times[0]! <= 2 * HOUR, "a sliding window: the end of the next window");
    assert.ok(times[1]! > HOUR / 2 - 60 && times[1]! <= HOUR / 2 + 1, "a bucket: until it is full");
    assert.ok(times[2]! > HOUR - 60 && times[2]! <= HOUR, "a fixed window: its length");
    assert.ok((await ttl(`${stem}huge`)) > 315_360_000, "the longest expiry that the store accepts");
    await redis.command("EXPIRE", `${stem}fixed:${start}`, 1000);
    await ask(store, [{ limits: fixed }]);
    assert.ok((await ttl(`${stem}fixed:${start}`)) <= 1000, "later hits do not extend a fixed window");
  });

  test("each key outlives its state by the jitter", async (t) => {
    t.mock.method(Math, "random", () => 0.99);
    const store = open(t, { expirationJitterMaxSeconds: 100_000 });
    const stem = stemOf(t);
    const limits = (["fixed_window", "accepted_window", "sliding_window", "token_bucket"] as const).map(
      (algorithm) => ({ stem: `${stem}${algorithm}:`, algorithm, windowSize: HOUR }),
    );
    await ask(
      store,
      limits.map((limit) => ({ limits: [limit], hits: 5 })),
    );
    await ask(store, [
      { limits: limits.slice(1).map((limit) => ({ ...limit, stem: `{${stem}}${limit.algorithm}:` })) },
    ]);
    for (const list of [`${stem}*`, `{${stem}}*`]) {
      const keys = (await redis.command("KEYS", list)) as string[];
      assert.equal(keys.length, list.startsWith("{") ? 3 : 4);
      for (const key of keys) {
        const left = Number(await redis.command("TTL", key));
        assert.ok(left >= 99_000 && left <= 99_001 + 2 * HOUR, `${key}: ${left}`);
      }
    }
  });

  test("hits within a sliding window keep the expiry of its key, and the next window sets it again", async (t) => {
    let now = Date.now() * 1000;
    now -= now % (HOUR * 1e6);
    const store = open(t, { expirationJitterMaxSeconds: 0, clock: () => now });
    const stem = stemOf(t);
    const limits = [{ stem, algorithm: "sliding_window" as const, limit: 100, windowSize: HOUR }];
    const expiryAfter = async (hits: number) => {
      await ask(store, [{ limits, hits }], now / 1000);
      return Number(await redis.command("TTL", stem));
    };
    assert.ok((await expiryAfter(5)) > HOUR, "the end of the next window");
    await redis.command("EXPIRE", stem, 1000);
    assert.ok((await expiryAfter(2)) <= 1000, "later hits do not change it");
    now += HOUR * 1e6;
    assert.ok((await expiryAfter(1)) > HOUR, "the end of the window after");
    const ended = await expiryAfter(-1);
    assert.ok(ended > HOUR - 60 && ended <= HOUR, "only hits of the earlier window are left");
  });

  test("counts on from any integer in a key of a fixed window", async (t) => {
    const store = open(t);
    for (const [stored, hits, used, after] of [
      ["5", 3, 8, "8"],
      ["5", -2, 3, "3"],
      ["5", -9, 0, "0"],
      ["0", 2, 2, "2"],
      ["-7", 2, 2, "2"],
      ["007", 2, 9, "9"],
      ["999999999999999", 1, 1e15, "1000000000000000"],
      ["1000000000000000", 1, 1e15 + 1, "1000000000000001"],
      ["9007199254740990", 5, Number.MAX_SAFE_INTEGER, "9007199254740991"],
      ["9223372036854775807", -1, Number.MAX_SAFE_INTEGER - 1, "9007199254740990"],
      ["99999999999999999999", -1, Number.MAX_SAFE_INTEGER - 1, "9007199254740990"],
    ] as const)
      for (const algorithm of ["accepted_window", "fixed_window"] as const) {
        const stem = stemOf(t);
        const start = Math.floor(Date.now() / HOUR / 1000) * HOUR;
        await redis.command("SET", `${stem}${start}`, stored);
        const limits = [{ stem, algorithm, limit: Number.MAX_SAFE_INTEGER }];
        const isOver = algorithm === "accepted_window" && used === Number.MAX_SAFE_INTEGER;
        const [group] = await ask(store, [{ limits, hits }], start * 1000);
        assert.equal(
          group!.accepted,
          !isOver && (hits < 0 || Number(stored) + hits <= Number.MAX_SAFE_INTEGER),
        );
        assert.equal(
          group!.limits[0]!.used,
          isOver ? Number(stored) : used,
          `${algorithm}: ${stored} and ${hits}`,
        );
        assert.equal(await redis.command("GET", `${stem}${start}`), isOver ? stored : after);
      }
  });

  test("one call of the script decides thousands of keys", async (t) => {
    const store = open(t);
    const stem = stemOf(t);
    const now = Date.now();
    const lists = Array.from({ length: 600 }, (_, i) =>
      makeAcquire(
        [
          {
            limits: Array.from({ length: 8 }, (_, j) => ({
              stem: `{${stem}${i}}${j}`,
              algorithm: "sliding_window",
            })),
          },
        ],
        now,
      ),
    );
    const calls = async () => (await redis.calls("eval")) + (await redis.calls("evalsha"));
    const before = await calls();
    for (const used of [1, 2]) {
      await askTogether(store, lists);
      for (const { groups } of lists) for (const limit of groups[0]!.limits) assert.equal(limit.used, used);
    }
    assert.equal((await calls()) - before, 2);
  });

  test("a refund of all hits removes the state", async (t) => {
    const store = open(t);
    const stem = stemOf(t);
    const limits = list(stem, 5);
    await ask(store, [{ limits, hits: 3 }]);
    assert.equal(((await redis.command("KEYS", `*${stem}*`)) as string[]).length, 2);
    await ask(store, [{ limits, hits: -4 }]);
    assert.deepEqual(await redis.command("KEYS", `*${stem}*`), []);
    await ask(store, [{ limits, hits: -4 }]);
    assert.deepEqual(await redis.command("KEYS", `*${stem}*`), [], "a refund creates no key");
  });

  test("sends the script again after SCRIPT FLUSH", async (t) => {
    const store = open(t);
    const limits = list(stemOf(t), 100);
    for (let used = 1; used <= 3; used++) {
      const [group] = await ask(store, [{ limits }]);
      assert.equal(group!.limits[0]!.used, used);
      await redis.command("SCRIPT", "FLUSH");
    }
  });

  test("a key that holds no state fails its own callers, and the others of the batch are answered", async (t) => {
    const store = open(t);
    for (const [algorithm, ...words] of [
      ["token_bucket", "SET", "five"],
      ["token_bucket", "SET", "5"],
      ["sliding_window", "SET", "1 2"],
      ["sliding_window", "RPUSH", "1"],
      ["accepted_window", "SET", "1.5"],
      ["fixed_window", "SADD", "1"],
    ] as const) {
      const stem = stemOf(t);
      const limits = [{ stem: `{${stem}}:`, algorithm }];
      const start = algorithms[algorithm].perWindow ? Math.floor(Date.now() / HOUR / 1000) * HOUR : "";
      await redis.command(words[0], `{${stem}}:${start}`, words[1]);
      const now = Date.now();
      const [bad, both, good] = await Promise.allSettled(
        [[{ limits }], [{ limits: [...limits, ...list(stem, 9)] }], [{ limits: list(stem, 9) }]].map(
          async (groups) => ask(store, groups, now),
        ),
      );
      for (const end of [bad, both])
        assert.match(String((end as PromiseRejectedResult).reason), /not the state of a limit/);
      assert.equal((good as PromiseFulfilledResult<AcquireRequest["groups"]>).value[0]!.limits[0]!.used, 1);
    }
  });

  test("a batch may have two limits for one key, and two windows of one key", async (t) => {
    const store = open(t);
    const stem = stemOf(t);
    const now = Date.now();
    const bucket = (limit: number) => [
      { stem: `${stem}bucket`, algorithm: "token_bucket" as const, limit, windowSize: 86_400 },
    ];
    const window = [{ stem: `${stem}hour:`, algorithm: "accepted_window" as const }];
    const requests = [
      makeAcquire([{ limits: bucket(10), hits: 4 }], now),
      makeAcquire([{ limits: window }], now),
      makeAcquire([{ limits: window }], now + HOUR * 1000),
      makeAcquire([{ limits: bucket(5), hits: 1 }], now),
      makeAcquire([{ limits: window }], now),
      makeAcquire([{ limits: window }], now + HOUR * 1000),
      makeAcquire([{ limits: bucket(10), hits: 1 }], now),
    ];
    await askTogether(store, requests);
    assert.deepEqual(
      requests.map(({ groups }) => groups[0]!.limits[0]!.remaining),
      [6, 9, 9, 4, 8, 8, 3],
    );
  });

  test("after a caller's deadline its results stay untouched, and its hits count for later callers", async (t) => {
    const proxy = await FaultyProxy.start(redis.port);
    t.after(() => proxy.stop());
    const patience = scaled(200);
    const store = open(t, { url: proxy.url, timeout: 50 * patience });
    const limits = list(stemOf(t), 10);
    await ask(store, [{ limits }]);
    proxy.held = () => true;
    const now = Date.now();
    const late = { ...makeAcquire([{ limits, hits: 2 }], now), deadline: now + patience };
    const waits = makeAcquire([{ limits, hits: 3 }], now);
    const refused = assert.rejects(async () => store.acquire(late), { code: "DEADLINE_EXCEEDED" });
    const answer = store.acquire(waits);
    await refused;
    proxy.held = () => false;
    await answer;
    assert.equal(late.groups[0]!.limits[0]!.used, -1);
    assert.equal(waits.groups[0]!.limits[0]!.used, 6);
  });

  test("a list is decided while its slot moves: MOVED, ASK, TRYAGAIN", async (t) => {
    const store = open(t, { type: "cluster", url: cluster.url });
    const stem = stemOf(t);
    const limits = list(stem, 100);
    const single = [{ stem: `{${stem}}one`, algorithm: "token_bucket" as const, limit: 100 }];
    await ask(store, [{ limits }]);
    const slot = slotOf(`{${stem}}`);
    const from = cluster.nodes[Math.floor((slot * 3) / 16384)]!;
    const to = cluster.nodes.find((node) => node !== from)!;
    const { waits } = await cluster.migrate(slot, from, to, async () => {
      // One key of the list exists only there, so the script needs to wait. A single new key does not.
      const waits = ask(store, [
        { limits: [...limits, { stem: `{${stem}}new:`, algorithm: "accepted_window" }] },
      ]);
      const [group] = await ask(store, [{ limits: single }]);
      assert.equal(group!.limits[0]!.used, 1);
      return { waits };
    });
    const [moved] = await waits;
    assert.deepEqual(
      moved!.limits.map(({ used }) => used),
      [2, 2, 1],
    );
    const [last] = await ask(store, [{ limits }]);
    assert.equal(last!.limits[0]!.used, 3);
  });

  /** Concurrent requests with a tight and a wide limit on two servers. Exactly those below the tight limit pass. */
  async function holdAcross(store: CounterStore, tight: LimitFields, wide: LimitFields, refuses: Refuses) {
    const now = Date.now();
    const requests = Array.from({ length: 60 }, () =>
      makeAcquire([{ limits: [tight], refuses }, { limits: [wide] }], now, HoldBack.WHEN_REFUSED),
    );
    await askTogether(store, requests);
    const passed = requests.filter(({ groups }) => groups[0]!.accepted);
    assert.equal(passed.length, tight.limit);
    const counted = refuses === Refuses.NEVER ? requests : passed;
    for (const request of requests)
      assert.equal(request.groups[1]!.outcome, counted.includes(request) ? Outcome.COUNTED : Outcome.HELD);
    const looks = await ask(store, [
      { limits: [tight], hits: 0 },
      { limits: [wide], hits: 0 },
    ]);
    assert.deepEqual(
      looks.map(({ limits }) => limits[0]!.used),
      [tight.limit, counted.length],
    );
  }

  const tightOf = (stem: string, algorithm: AlgorithmName, windowSize = 86_400 * 365): LimitFields => ({
    stem,
    algorithm,
    limit: 15,
    windowSize,
  });

  for (const algorithm of ["accepted_window", "sliding_window", "token_bucket"] as const)
    for (const refuses of [Refuses.ALWAYS, Refuses.TOGETHER, Refuses.NEVER])
      test(`${algorithm}: limits in two slots hold each other back (refuses: ${refuses})`, async (t) => {
        const store = open(t, { type: "cluster", url: cluster.url });
        const stem = stemOf(t);
        await holdAcross(
          store,
          tightOf(`{${stem}tight}`, algorithm),
          { stem: `{${stem}wide}:`, limit: 1000 },
          refuses,
        );
      });

  test("a refund across slots invalidates cached refusals of plain windows", async (t) => {
    const refunded: string[] = [];
    const store = open(t, {
      type: "cluster",
      url: cluster.url,
      onRefund: (limits) => refunded.push(...limits.map(({ stem }) => stem)),
    });
    const stem = stemOf(t);
    const wide = `{${stem}wide}:`;
    await ask(store, [{ limits: [{ stem: wide }], hits: 0 }]);
    await holdAcross(
      store,
      tightOf(`{${stem}tight}`, "token_bucket"),
      { stem: wide, limit: 1000 },
      Refuses.ALWAYS,
    );
    assert.ok(refunded.length > 0, "the calls of one turn all pass the first step");
    assert.deepEqual(new Set(refunded), new Set([wide]));
  });

  test("the per-second instance has single limits of a second, and the main one has lists", async (t) => {
    const store = new PerSecondStore(open(t), open(t, { url: second.url }));
    const stem = stemOf(t);
    const single: LimitFields = { stem: `${stem}one`, algorithm: "token_bucket", windowSize: 1 };
    const now = Date.now();
    for (const groups of [
      [{ limits: [single] }, { limits: [{ ...single, stem: `{${stem}}a` }, ...list(stem, 9)] }],
      [{ limits: [single] }],
      [{ limits: list(stem, 9) }],
    ])
      await ask(store, groups, now);
    const keys = async (server: RedisServer) =>
      ((await server.command("KEYS", `*${stem}*`)) as string[]).sort();
    assert.deepEqual(await keys(second), [`${stem}one`]);
    assert.deepEqual(await keys(redis), [`{${stem}}a`, `{${stem}}bucket:86400`, `{${stem}}sliding:60`]);
  });

  test("the main instance has windows of several seconds", async (t) => {
    const store = new PerSecondStore(open(t), open(t, { url: second.url }));
    const stem = stemOf(t);
    const now = Date.now();
    const windowStart = Math.floor(now / 10_000) * 10;
    const count = {
      stem: `${stem}fixed:10:`,
      windowStart,
      windowSize: 10,
      hits: 1,
      limit: 5,
      refuses: Refuses.ALWAYS,
      outcome: Outcome.COUNTED as Outcome,
      after: -1,
    };
    await store.count({ counts: [count], holdBack: HoldBack.NEVER, now, deadline: 0 });
    await ask(store, [{ limits: [{ stem: `${stem}bucket:10`, algorithm: "token_bucket", windowSize: 10 }] }]);
    assert.deepEqual(await second.command("KEYS", `*${stem}*`), []);
    assert.deepEqual(((await redis.command("KEYS", `*${stem}*`)) as string[]).sort(), [
      `${stem}bucket:10`,
      `${stem}fixed:10:${windowStart}`,
    ]);
  });

  test("limits of two instances hold each other back", async (t) => {
    const store = new PerSecondStore(open(t), open(t, { url: second.url }));
    const stem = stemOf(t);
    const now = Date.now();
    const day = tightOf(`${stem}day`, "sliding_window");
    // A plain window of a second whose key stays for the test.
    const wide = { stem: `${stem}second:`, limit: 1000, windowSize: 1 };
    const requests = Array.from({ length: 60 }, () =>
      makeAcquire([{ limits: [day] }, { limits: [wide] }], now, HoldBack.WHEN_REFUSED),
    );
    await askTogether(store, requests);
    const passed = requests.filter(({ groups }) =>
      groups.every(({ outcome, accepted }) => accepted && outcome === Outcome.COUNTED),
    );
    assert.equal(passed.length, 15);
    assert.equal(await second.command("GET", `${stem}second:${Math.floor(now / 1000)}`), "15");
  });

  test("the script multiplies and divides exactly, like the algorithms", async () => {
    const integer = fc.oneof(
      fc.maxSafeNat(),
      fc.nat(),
      fc.nat({ max: 1000 }),
      fc.constantFrom(2 ** 53 - 1, 2 ** 27 + 1),
    );
    const script = `${MUL_DIV}
      local out = {}
      for i = 1, #ARGV, 3 do
        local a, b, c = tonumber(ARGV[i]), tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
        out[#out + 1] = string.format('%.0f', mulDiv(a, b, c, 0))
        out[#out + 1] = string.format('%.0f', mulDiv(a, b, c, 1))
      end
      return out`;
    const triple = fc.tuple(
      integer,
      integer,
      integer.filter((c) => c > 0),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(triple, { minLength: 1, maxLength: 100 }), async (triples) => {
        const found = (await redis.command("EVAL", script, 0, ...triples.flat())) as string[];
        assert.deepEqual(
          found.map(Number),
          triples.flatMap(([a, b, c]) => [mulDivFloor(a, b, c), mulDivCeil(a, b, c)]),
        );
      }),
      { numRuns: 40 },
    );
  });
});
