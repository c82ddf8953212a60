import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { makeAcquire } from "../../../test/counters/acquire-conformance.ts";
import { makeCount, makeRequest } from "../../../test/counters/conformance.ts";
import {
  makeSettle,
  newToken,
  reservationConformance,
  type SettleFields,
} from "../../../test/counters/reservation-conformance.ts";
import { type ReservationStore, Step, Verdict } from "../reservations.ts";
import { Acquiring } from "./acquiring.ts";
import { CounterTable } from "./counter-table.ts";
import { EmbeddedStore } from "./embedded-store.ts";
import { createHoldBlock } from "./hold-layout.ts";
import { attachBlock, createBlock } from "./layout.ts";
import { Settling } from "./settling.ts";
import { takeTicket } from "./tickets.ts";

reservationConformance("embedded", {
  makeStore: () => EmbeddedStore.create({ sizeInBytes: 4 * 1024 ** 2 }),
  makePeer: (_, store) => EmbeddedStore.attach((store as EmbeddedStore).share()),
  runs: 150,
});

/** A store that repairs all shards after each step, as after a thread that ended with their locks held. */
function repairingStore(): ReservationStore {
  const block = createBlock(40 * 1024 ** 2);
  const holds = createHoldBlock(40 * 1024 ** 2, block.layout.shards);
  const table = new CounterTable(attachBlock(block.buffer), takeTicket(block.ints), undefined, holds);
  table.clock.start(Date.now());
  const acquiring = new Acquiring(table);
  const settling = new Settling(table);
  const repair = () => {
    for (const shard of table.shards) {
      shard.acquire();
      shard.rebuild();
      shard.release();
    }
  };
  return {
    kind: "embedded",
    count: () => assert.fail("not used"),
    acquire: (request) => acquiring.acquire(request),
    settle: (request) => {
      settling.settle(request);
      repair();
    },
    close: async () => {},
  };
}

reservationConformance("embedded, repaired after each step", {
  makeStore: repairingStore,
  makePeer: (_, store) => ({ ...store }),
  // A repair forgets the figures of ended holds.
  endsAreReported: false,
  runs: 40,
});

const NOW = 1_800_000_000_000;
const limits = [{ stem: "d|k=v|hour:", limit: 100 }];

function settle(store: EmbeddedStore, fields: Omit<SettleFields, "limits">, now = NOW) {
  const request = makeSettle({ limits, ...fields }, now);
  store.settle(request);
  return request;
}

describe("holds of the embedded store", () => {
  test("plain decisions never touch their memory", () => {
    const store = EmbeddedStore.create({ sizeInBytes: 1024 ** 2, reclaimInterval: 0 });
    const header = 16;
    const used = () => new Int32Array(store.share().holds).subarray(header).some((word) => word !== 0);
    for (const algorithm of ["fixed_window", "accepted_window", "sliding_window", "token_bucket"] as const) {
      const request = makeAcquire([{ limits: [{ stem: `d|k=${algorithm}|`, algorithm }] }], NOW);
      store.acquire(request);
      assert.equal(request.groups[0]!.accepted, true);
    }
    store.count(makeRequest([makeCount({ stem: "d|k=v|hour:", hits: 1 })], { now: NOW }));
    assert.equal(used(), false);
    settle(store, { step: Step.RESERVE, token: newToken() });
    assert.equal(used(), true);
  });

  async function open(t: TestContext, path: string, sizeInBytes: number, now = NOW) {
    const problems: string[] = [];
    const store = await EmbeddedStore.open({
      sizeInBytes,
      snapshotPath: path,
      clock: () => now,
      reclaimInterval: 0,
      report: (problem) => problems.push(problem),
    });
    t.after(() => assert.deepEqual(problems, []));
    return store;
  }

  test("survive a restart, also in a store of another size", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-holds-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, "counters");
    const [open1, committed, short] = [newToken(), newToken(), newToken()];
    const first = await open(t, path, 64 * 1024 ** 2);
    settle(first, { step: Step.REPORT, hits: 5 });
    settle(first, { step: Step.RESERVE, hits: 20, token: open1 });
    settle(first, { step: Step.RESERVE, hits: 3, token: short, ttl: 1000 });
    settle(first, { step: Step.RESERVE, hits: 30, token: committed });
    settle(first, { step: Step.COMMIT, hits: 10, token: committed });
    await first.close();
    const second = await open(t, path, 4 * 1024 ** 2, NOW + 5000);
    const found = settle(second, { step: Step.CHECK, hits: 1 }, NOW + 5000).groups[0]!.limits[0]!;
    assert.deepEqual([found.used, found.held], [35, 20]);
    assert.equal(
      settle(second, { step: Step.COMMIT, hits: 10, token: committed }, NOW + 5000).repeated,
      true,
    );
    const end = settle(second, { step: Step.COMMIT, hits: 1, token: open1 }, NOW + 5000);
    assert.deepEqual([end.released, end.groups[0]!.released, end.groups[0]!.limits[0]!.used], [true, 20, 16]);
    await second.close();
  });

  test("are bounded: a full store refuses, forgets commits first, and has room again", () => {
    const store = EmbeddedStore.create({ sizeInBytes: 64 * 1024, reclaimInterval: 0 });
    const limits = [{ stem: "d|k=v|hour:", limit: 2 ** 50 }];
    const full = (now: number) => {
      for (let holds = 0; ; holds++) {
        const fields = { step: Step.RESERVE, limits, token: newToken(), maxHolds: 10 ** 6, ttl: 60_000 };
        const request = makeSettle(fields, now);
        store.settle(request);
        if (request.verdict === Verdict.FULL) return holds;
        assert.equal(request.verdict, Verdict.OK);
        assert.ok(holds < 100_000);
      }
    };
    const most = full(NOW);
    assert.ok(most > 10_000, `${most} holds`);
    // Commits remember up to half of them, and give way to holds.
    for (let commits = 0; commits < most; commits++)
      settle(store, { step: Step.COMMIT, hits: 0, token: newToken() }, NOW + 60_000);
    assert.equal(full(NOW + 61_000), most);
  });

  test("remember a commit again after they have forgotten it", () => {
    const store = EmbeddedStore.create({ sizeInBytes: 4 * 1024 ** 2 });
    const settle = (name: string, fields: Omit<SettleFields, "limits">, now: number) => {
      const request = makeSettle(
        { ...fields, limits: [{ stem: name, algorithm: "token_bucket", limit: 10 }] },
        now,
      );
      store.settle(request);
      return request;
    };
    const begun = 1_800_000_000_000;
    const names = Array.from({ length: 64 }, (_, index) => String(index));
    // Hits of ended holds wait to be reported, before the commits in the order of their ends.
    for (const name of names)
      settle(`ended${name}`, { step: Step.RESERVE, token: newToken(), ttl: 100 }, begun);
    for (const name of names) {
      const token = newToken();
      const repeated = (now: number) => settle(name, { step: Step.COMMIT, token }, now).repeated;
      assert.equal(repeated(begun + 1000), false);
      assert.equal(repeated(begun + 3_601_000), false);
      assert.equal(repeated(begun + 3_601_000), true);
    }
  });

  test("protect their counter from eviction", () => {
    const store = EmbeddedStore.create({ sizeInBytes: 128 * 1024, reclaimInterval: 0 });
    settle(store, { step: Step.REPORT, hits: 7 });
    settle(store, { step: Step.RESERVE, hits: 20, token: newToken() });
    for (let index = 0; index < 5000; index++) {
      const other = makeSettle(
        { step: Step.REPORT, limits: [{ stem: `d|many=${index}|hour:`, limit: 100 }] },
        NOW,
      );
      store.settle(other);
    }
    assert.ok(store.statistics().evicted > 1000);
    assert.equal(settle(store, { step: Step.CHECK }).groups[0]!.limits[0]!.used, 27);
  });
});
