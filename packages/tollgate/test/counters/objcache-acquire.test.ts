/** Limits beyond the plain fixed window in memcached: conformance, concurrency and its bound, refused algorithms. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, type TestContext, test } from "node:test";
import type { ObjcacheStore } from "../../src/counters/objcache/objcache.ts";
import { HoldBack, Outcome } from "../../src/counters/store.ts";
import { MemcachedServer } from "../servers/memcached.ts";
import { acquireConformance, makeAcquire } from "./acquire-conformance.ts";
import { makeObjcache } from "./kvstore-support.ts";

describe("objcache: limits", () => {
  let servers: MemcachedServer[];
  before(async () => {
    servers = [await MemcachedServer.start(), await MemcachedServer.start()];
  });
  after(() => Promise.all(servers.map((server) => server.stop())));

  const make = () => makeObjcache({ nodes: servers.map(({ url }) => url) });
  function open(t: TestContext): ObjcacheStore {
    const store = make();
    t.after(() => store.close());
    return store;
  }
  const stemOf = () => `acquire|key=${randomUUID()}|`;

  acquireConformance("objcache", {
    makeStore: make,
    algorithms: ["fixed_window", "accepted_window"],
    settle: (store) => (store as ObjcacheStore).flushed(),
    runs: 20,
  });

  test("other algorithms fail without a count", async (t) => {
    const store = open(t);
    for (const algorithm of ["sliding_window", "token_bucket"] as const)
      assert.throws(
        () => store.acquire(makeAcquire([{ limits: [{ stem: stemOf(), algorithm }] }], Date.now())),
        {
          code: "STORE_UNAVAILABLE",
          message: `memcached does not support ${algorithm}`,
        },
      );
  });

  test("one process accepts exactly the limit, also for equal groups of a request", async (t) => {
    const store = open(t);
    const limits = [
      { stem: `${stemOf()}day:`, algorithm: "accepted_window" as const, limit: 15, windowSize: 86_400 },
    ];
    const requests = Array.from({ length: 40 }, () => makeAcquire([{ limits }, { limits }], Date.now()));
    await Promise.all(requests.map((request) => store.acquire(request)));
    const accepted = requests.flatMap(({ groups }) => groups.filter(({ accepted }) => accepted));
    assert.equal(accepted.length, 15);
    await store.flushed();
    const look = makeAcquire([{ limits, hits: 0 }], Date.now());
    await store.acquire(look);
    assert.deepEqual(
      look.groups.map(({ accepted, limits }) => [accepted, limits[0]!.used]),
      [[false, 15]],
    );
  });

  test("several processes exceed a limit by at most the hits of their last round trips", async (t) => {
    const stores = [open(t), open(t), open(t)];
    const now = Date.now();
    const stem = stemOf();
    const limits = [
      { stem: `{${stem}}day:`, algorithm: "accepted_window" as const, limit: 60, windowSize: 86_400 },
      {
        stem: `{${stem}}fixed:604800:`,
        algorithm: "accepted_window" as const,
        limit: 500,
        windowSize: 604_800,
      },
    ];
    let accepted = 0;
    const caller = async (store: ObjcacheStore) => {
      for (let i = 0; i < 40; i++) {
        const request = makeAcquire([{ limits }], now, HoldBack.WHEN_REFUSED);
        await store.acquire(request);
        assert.equal(request.groups[0]!.outcome, Outcome.COUNTED);
        if (request.groups[0]!.accepted) accepted++;
      }
    };
    await Promise.all(stores.map(caller));
    assert.ok(accepted >= 60 && accepted <= 60 + 2 * stores.length, `${accepted} hits passed`);
    for (const store of stores) await store.flushed();
    const look = makeAcquire([{ limits, hits: 0 }], now);
    await stores[0]!.acquire(look);
    assert.deepEqual(
      look.groups[0]!.limits.map(({ used }) => used),
      [accepted, accepted],
    );
  });
});
