/** Reservations in Redis: conformance on every topology, and the keys. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, type TestContext, test } from "node:test";
import type { KvstoreStore } from "../../src/counters/kvstore/kvstore.ts";
import { PerSecondStore } from "../../src/counters/kvstore/per-second.ts";
import { type ReservationStore, Step, type Token, Verdict } from "../../src/counters/reservations.ts";
import { RedisCluster } from "../servers/cluster.ts";
import { RedisServer } from "../servers/redis.ts";
import { SentinelGroup } from "../servers/sentinel.ts";
import { makeKvstore, type TestKvstore } from "./kvstore-support.ts";
import {
  makeSettle,
  newToken,
  reservationConformance,
  type SettleFields,
} from "./reservation-conformance.ts";

/** Opens a store whose clock is that of its requests, and whose keys live long enough for any virtual time. */
function openVirtual(t: TestContext, options: TestKvstore): ReservationStore {
  t.mock.method(Math, "random", () => 0.99);
  let now = 0;
  const store = makeKvstore({ poolSize: 2, ...options, clock: () => now });
  return {
    kind: store.kind,
    count: (request) => store.count(request),
    acquire(request) {
      now = request.now * 1000;
      return store.acquire(request);
    },
    settle(request) {
      now = request.now * 1000;
      return store.settle(request);
    },
    close: () => store.close(),
  };
}

describe("kvstore: reservations", () => {
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

  reservationConformance("kvstore single", {
    makeStore: (t) => openVirtual(t, { url: redis.url }),
    makePeer: (t) => openVirtual(t, { url: redis.url }),
    keepsOrder: true,
    runs: 40,
  });
  reservationConformance("kvstore sentinel", {
    makeStore: (t) => openVirtual(t, { type: "sentinel", url: sentinel.url }),
    makePeer: (t) => openVirtual(t, { type: "sentinel", url: sentinel.url }),
    runs: 10,
  });
  reservationConformance("kvstore cluster", {
    makeStore: (t) => openVirtual(t, { type: "cluster", url: cluster.url }),
    makePeer: (t) => openVirtual(t, { type: "cluster", url: cluster.url }),
    single: true,
    runs: 20,
  });
  const withSecond = (t: TestContext) =>
    new PerSecondStore(openVirtual(t, { url: redis.url }), openVirtual(t, { url: second.url }));
  reservationConformance("kvstore with a per-second instance", {
    makeStore: withSecond,
    makePeer: withSecond,
    single: true,
    runs: 15,
  });

  function open(t: TestContext, options: Partial<TestKvstore> = {}): KvstoreStore {
    const store = makeKvstore({ url: redis.url, poolSize: 1, ...options });
    t.after(() => store.close());
    return store;
  }

  async function settle(store: ReservationStore, fields: SettleFields, now = Date.now()) {
    const request = makeSettle(fields, now);
    await store.settle(request);
    return request;
  }

  const stemOf = (t: TestContext) => `reserve|${t.name.replaceAll(/\W+/g, "_")}=${randomUUID()}|`;

  for (const [name, options] of [
    ["single", () => ({ url: redis.url })],
    ["cluster", () => ({ type: "cluster" as const, url: cluster.url })],
  ] as const) {
    test(`${name}: several descriptors hold all or nothing, and commit together`, async (t) => {
      const store = open(t, options());
      const stem = stemOf(t);
      const group = (key: string, limit: number) => ({
        hits: 4,
        limits: [{ stem: `${stem}${key}|day:`, limit, windowSize: 86_400 }],
      });
      const wide = [group("a", 10), group("b", 100), group("c", 50)];
      const heldBy = async (group: (typeof wide)[number]) =>
        (await settle(store, { step: Step.CHECK, groups: [{ ...group, hits: 1 }] })).groups[0]!.limits[0]!;
      const tokens = [newToken(), newToken(), newToken()];
      const verdicts = [];
      for (const token of tokens) {
        const { verdict } = await settle(store, { step: Step.RESERVE, groups: wide, token });
        verdicts.push(verdict);
      }
      assert.deepEqual(verdicts, [Verdict.OK, Verdict.OK, Verdict.REFUSED]);
      for (const group of wide) assert.equal((await heldBy(group)).held, 8);
      const commit = { step: Step.COMMIT, groups: wide, token: tokens[0]! };
      const committed = await settle(store, commit);
      assert.deepEqual([committed.released, committed.repeated], [true, false]);
      const again = await settle(store, commit);
      assert.deepEqual([again.released, again.repeated], [false, true]);
      for (const group of wide) {
        const { held, used } = await heldBy(group);
        assert.deepEqual([held, used], [4, 8]);
      }
    });

    test(`${name}: holds that end with their window are reported once, by the next call of any process`, async (t) => {
      const stores = [open(t, options()), open(t, options())];
      const [store, peer] = stores as [KvstoreStore, KvstoreStore];
      const limits = [{ stem: `${stemOf(t)}k|hour:`, limit: 100, windowSize: 3600 }];
      const start = Math.floor(Date.now() / 3_600_000) * 3_600_000;
      const reserve = (hits: number, token = newToken()) =>
        settle(store, { step: Step.RESERVE, limits, hits, token, ttl: 3_600_000 }, start);
      const expired = async (asked: KvstoreStore, now: number) =>
        (await settle(asked, { step: Step.CHECK, limits, hits: 1 }, now)).groups[0]!.expired;
      await reserve(10);
      const late = newToken();
      await reserve(20, late);
      assert.equal(await expired(peer, start + 1), 0);
      for (const one of stores) await settle(one, { step: Step.LOOK, limits, hits: 0 }, start + 3_600_000);
      assert.equal(await expired(peer, start + 3_600_000), 30);
      for (const one of stores) assert.equal(await expired(one, start + 3_600_001), 0);
      await reserve(5);
      const commit = { step: Step.COMMIT, limits, hits: 7, token: late, home: start };
      const committed = await settle(store, commit, start + 3_600_002);
      assert.deepEqual([committed.released, committed.groups[0]!.released], [false, 0]);
      assert.equal(committed.groups[0]!.expired, 5);
      for (const one of stores) assert.equal(await expired(one, start + 7_200_000), 0);
    });

    test(`${name}: a late commit of several windows counts once, from any process`, async (t) => {
      const store = open(t, options());
      const peer = open(t, options());
      const stem = stemOf(t);
      const groups = ["a", "b"].map((key) => ({
        hits: 5,
        limits: [{ stem: `${stem}${key}|minute:`, limit: 10, windowSize: 60 }],
      }));
      const token = newToken();
      const home = Date.now();
      await settle(store, { step: Step.RESERVE, groups, token, ttl: 600_000 }, home);
      const commits = [];
      for (const [at, asked] of [
        [home + 60_000, peer],
        [home + 60_000, store],
        [home + 120_000, peer],
      ] as const) {
        const { released, repeated } = await settle(asked, { step: Step.COMMIT, groups, token, home }, at);
        commits.push([released, repeated]);
      }
      assert.deepEqual(commits, [
        [true, false],
        [false, true],
        [false, true],
      ]);
      const used = async (at: number) => {
        const { groups: found } = await settle(store, { step: Step.CHECK, groups }, at);
        return found.map(({ limits }) => limits[0]!.used);
      };
      assert.deepEqual(await used(home), [0, 0]);
      assert.deepEqual(await used(home + 60_000), [5, 5]);
      assert.deepEqual(await used(home + 120_000), [0, 0]);
    });
  }

  test("every key of a reservation expires, and the keys of holds disappear with the last hold", async (t) => {
    const store = open(t);
    const stem = stemOf(t);
    const limits = [{ stem: `${stem}hour:`, limit: 100 }];
    const token = newToken();
    await settle(store, { step: Step.RESERVE, limits, hits: 5, token });
    const keys = async () => (await redis.command("KEYS", `*${stem}*`)) as unknown as string[];
    const held = await keys();
    assert.deepEqual(held.map((key) => key.slice(key.indexOf("|hour:") + 6)).sort(), ["}:ends", "}:holds"]);
    // The longest time to live is an hour. A process then counts the end of the hold.
    for (const key of held) assert.ok(Number(await redis.command("TTL", key)) > 3900);
    await settle(store, { step: Step.COMMIT, limits, hits: 2, token });
    const left = await keys();
    assert.equal(left.length, 2);
    for (const key of left) assert.ok(Number(await redis.command("TTL", key)) > 0, key);
    assert.ok(left.some((key) => key.endsWith(":commits")));
  });

  test("a counter remembers 10,000 commits, and forgets the oldest ones", async (t) => {
    const store = open(t);
    const stem = stemOf(t);
    const limits = [{ stem: `${stem}hour:`, limit: 100 }];
    const token = newToken();
    const commit = (token: Token) => settle(store, { step: Step.COMMIT, limits, token });
    assert.equal((await commit(token)).repeated, false);
    assert.equal((await commit(token)).repeated, true);
    const key = `{${stem}hour:}:commits`;
    const later = Date.now() + 7_200_000;
    const others = Array.from({ length: 10_000 }, (_, index) => [later, `other${index}`]);
    await redis.command("ZADD", key, ...others.flat());
    assert.equal((await commit(newToken())).repeated, false);
    assert.equal(await redis.command("ZCARD", key), 10_000);
    assert.equal((await commit(token)).repeated, false);
  });

  test("a key with another value fails its own call only", async (t) => {
    const store = open(t);
    const stem = stemOf(t);
    const good = [{ stem: `${stem}good`, algorithm: "token_bucket" as const, limit: 10 }];
    const bad = [{ stem: `${stem}bad`, algorithm: "token_bucket" as const, limit: 10 }];
    await redis.command("SET", `${stem}bad`, "x");
    const ends = await Promise.allSettled(
      [bad, good, bad].map((limits) => settle(store, { step: Step.RESERVE, limits, token: newToken() })),
    );
    assert.deepEqual(
      ends.map(({ status }) => status),
      ["rejected", "fulfilled", "rejected"],
    );
    assert.equal(await redis.command("GET", `${stem}bad`), "x");
  });

  for (const [suffix, command] of [
    ["holds", ["SET", "x"]],
    ["ends", ["SET", "x"]],
    ["commits", ["LPUSH", "x"]],
  ] as const)
    test(`a key of another type instead of ${suffix} fails its own call only`, async (t) => {
      const store = open(t);
      const stem = stemOf(t);
      const [good, bad] = ["good", "bad"].map((name) => [{ stem: `${stem}${name}:`, limit: 10 }]);
      const [name, value] = command;
      await redis.command(name, `{${stem}bad:}:${suffix}`, value);
      const step = suffix === "commits" ? Step.COMMIT : Step.RESERVE;
      const ends = await Promise.allSettled(
        [good!, bad!, good!].map((limits) => settle(store, { step, limits, token: newToken() })),
      );
      assert.deepEqual(
        ends.map(({ status }) => status),
        ["fulfilled", "rejected", "fulfilled"],
      );
    });

  test("a server that refuses writes fails all callers of a call, and holds nothing", async (t) => {
    const store = open(t);
    const stem = stemOf(t);
    const steps = [Step.CHECK, Step.RESERVE, Step.RESERVE];
    const ask = () =>
      Promise.allSettled(
        steps.map((step, index) =>
          settle(store, { step, limits: [{ stem: `${stem}${index}:`, limit: 10 }], token: newToken() }),
        ),
      );
    await ask();
    await redis.command("CONFIG", "SET", "min-replicas-to-write", "1");
    t.after(() => redis.command("CONFIG", "SET", "min-replicas-to-write", "0"));
    for (const end of await ask()) {
      assert.equal(end.status, "rejected");
      assert.match(end.reason.message, /error reply of the store: NOREPLICAS/);
    }
    await redis.command("CONFIG", "SET", "min-replicas-to-write", "0");
    const held = (await ask()).map((end) =>
      end.status === "fulfilled" ? end.value.groups[0]!.limits[0]!.held : Number.NaN,
    );
    assert.deepEqual(held, [0, 2, 2]);
  });

  test("reservations of one batch have positions of their own, also in several calls of the script", async (t) => {
    const store = open(t);
    const limits = [{ stem: `${stemOf(t)}hour:`, limit: 150 }];
    const fields = { step: Step.RESERVE, limits, hits: 1 };
    const asked = Array.from({ length: 200 }, () => settle(store, { ...fields, token: newToken() }));
    const settled = await Promise.all(asked);
    assert.deepEqual(
      settled.map(({ verdict, groups }) => [verdict, groups[0]!.limits[0]!.held]),
      settled.map((_, index) => (index < 150 ? [Verdict.OK, index + 1] : [Verdict.REFUSED, 150])),
    );
  });
});
