import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import fc from "fast-check";
import {
  acquireConformance,
  type LimitFields,
  makeAcquire,
  resultsOf,
} from "../../../test/counters/acquire-conformance.ts";
import { AcquireModel } from "../../../test/counters/acquire-model.ts";
import type { AlgorithmName } from "../algorithms/algorithm.ts";
import { EmbeddedStore } from "./embedded-store.ts";

acquireConformance("embedded", {
  makeStore: () => EmbeddedStore.create({ sizeInBytes: 1024 ** 2, reclaimInterval: 0 }),
  makePeer: (_, store) => EmbeddedStore.attach((store as EmbeddedStore).share()),
  grant: (store, grant) => (store as EmbeddedStore).admin().grant(grant),
  runs: 200,
});

const START = 1_800_000_000_000;

function take(store: EmbeddedStore, limit: LimitFields, now: number, hits = 1) {
  const request = makeAcquire([{ limits: [limit], hits }], now);
  store.acquire(request);
  return request.groups[0]!.limits[0]!;
}

describe("acquire in the embedded store", () => {
  test("has the results of the model for requests of one limit, through two threads' views", () => {
    const step = fc.record({
      advance: fc.oneof(
        { weight: 3, arbitrary: fc.integer({ min: 0, max: 500 }) },
        { weight: 2, arbitrary: fc.integer({ min: -2000, max: 90_000 }) },
        { weight: 1, arbitrary: fc.integer({ min: 0, max: 200_000_000 }) },
      ),
      key: fc.nat({ max: 7 }),
      hits: fc.integer({ min: -3, max: 4 }),
      peer: fc.boolean(),
    });
    // A state that has ended may be dropped. For a bucket this shows only when its limit changes.
    const limits = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 8, maxLength: 8 });
    const kinds: readonly AlgorithmName[] = [
      "accepted_window",
      "sliding_window",
      "token_bucket",
      "fixed_window",
    ];
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), limits, (steps, limitOf) => {
        const store = EmbeddedStore.create({ sizeInBytes: 64 * 1024, reclaimInterval: 0 });
        const peer = EmbeddedStore.attach(store.share());
        const model = new AcquireModel();
        let now = START;
        for (const { advance, key, hits, peer: byPeer } of steps) {
          now += advance;
          const limit = limitOf[key]!;
          const fields = {
            stem: `d|k=${"x".repeat(key * 3)}|:`,
            algorithm: kinds[key % 4]!,
            limit,
            burst: limit + 1,
            windowSize: key < 4 ? 1 : 60,
          };
          const group = [{ limits: [fields], hits }];
          const expected = makeAcquire(group, now);
          model.acquire(expected);
          const found = makeAcquire(group, now);
          (byPeer ? peer : store).acquire(found);
          assert.deepEqual(resultsOf(found), resultsOf(expected));
        }
        assert.equal(store.statistics().evicted, 0);
      }),
      { numRuns: 200 },
    );
  });

  test("a state that moves on is not reclaimed, and disappears when it has ended", () => {
    let now = START;
    const store = EmbeddedStore.create({
      sizeInBytes: 512 * 1024,
      reclaimInterval: 0,
      clock: () => now,
      monotonic: () => now - START,
    });
    const bucket: LimitFields = {
      stem: "d|bucket:",
      algorithm: "token_bucket",
      limit: 1,
      windowSize: 1,
      burst: 10,
    };
    const sliding: LimitFields = { stem: "d|sliding:", algorithm: "sliding_window", limit: 5, windowSize: 2 };
    for (let second = 0; second < 100; second++, now += 1000) {
      assert.equal(take(store, bucket, now).accepted, true);
      assert.equal(take(store, sliding, now).accepted, true);
      // New counters of the same classes make the store look for ended segments.
      for (let index = 0; index < 300; index++)
        take(store, { stem: `d|${second}|${index}:`, algorithm: "accepted_window", windowSize: 1 }, now);
    }
    assert.equal(take(store, bucket, now, 0).remaining, 10);
    assert.equal(take(store, bucket, now - 1000, 0).remaining, 9, "the state was kept");
    const { expired, liveCounters, evicted } = store.statistics();
    assert.equal(evicted, 0);
    assert.ok(expired > 20_000 && liveCounters < 8000, `${expired} expired, ${liveCounters} live`);
  });

  test("states with different ends take no more room than states with one end", () => {
    const room = (hitsOf: (index: number) => number) => {
      const store = EmbeddedStore.create({ sizeInBytes: 64 * 1024, reclaimInterval: 0, clock: () => START });
      for (let index = 0; ; index++) {
        const stem = `d|k=${10_000 + index}|:`;
        const bucket = { stem, algorithm: "token_bucket", limit: 100_000, windowSize: 86_400 } as const;
        take(store, bucket, START, hitsOf(index));
        if (store.statistics().evicted > 0) return index;
      }
    };
    const one = room(() => 1);
    assert.ok(one > 500);
    assert.equal(
      room((index) => 1 + index * 50),
      one,
    );
  });

  test("a state whose end moves with each hit evicts no other", () => {
    for (const algorithm of ["sliding_window", "token_bucket"] as const) {
      let now = START;
      const store = EmbeddedStore.create({
        sizeInBytes: 64 * 1024,
        reclaimInterval: 0,
        clock: () => now,
        monotonic: () => now - START,
      });
      const limit = { algorithm, limit: 1_000_000_000, windowSize: 86_400 };
      for (let index = 0; index < 300; index++) take(store, { ...limit, stem: `d|k=${index}|:` }, now);
      for (let hit = 0; hit < 20_000; hit++, now += 1000)
        assert.equal(take(store, { ...limit, stem: "d|own|:" }, now, 1_000).accepted, true);
      assert.equal(store.statistics().evicted, 0, algorithm);
    }
  });

  test("a used-up limit of any algorithm outlasts a flood of new keys", () => {
    const store = EmbeddedStore.create({ sizeInBytes: 64 * 1024, reclaimInterval: 0 });
    const limits = (["accepted_window", "sliding_window", "token_bucket"] as const).map((algorithm) => ({
      stem: `d|used-up|${algorithm}:`,
      algorithm,
      limit: 3,
      windowSize: 86_400,
    }));
    for (const limit of limits) assert.equal(take(store, limit, START, 3).accepted, true);
    for (let index = 0; index < 20_000; index++)
      take(store, { ...limits[index % 3]!, stem: `d|flood=${index}|:` }, START);
    assert.ok(store.statistics().evicted > 10_000);
    assert.equal(store.statistics().evictedProtected, 0);
    for (const limit of limits) assert.equal(take(store, limit, START).accepted, false, limit.algorithm);
  });

  test("states survive a snapshot", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-states-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const options = { snapshotPath: join(folder, "counters"), sizeInBytes: 1024 ** 2, clock: () => START };
    const limits = (["fixed_window", "accepted_window", "sliding_window", "token_bucket"] as const).map(
      (algorithm) => ({ stem: `d|${algorithm}:`, algorithm, limit: 10, windowSize: 60 }),
    );
    const first = await EmbeddedStore.open(options);
    // Two windows, so that the sliding window has both of its counts.
    for (const limit of limits) for (const at of [START - 60_000, START]) take(first, limit, at, 3);
    const before = limits.map((limit) => take(first, limit, START + 15_000, 0));
    await first.close();
    const problems: string[] = [];
    const second = await EmbeddedStore.open({ ...options, report: (problem) => problems.push(problem) });
    t.after(() => second.close());
    assert.deepEqual(problems, []);
    assert.deepEqual(
      limits.map((limit) => take(second, limit, START + 15_000, 0)),
      before,
    );
    assert.ok(before.every(({ used }) => used >= 1));
  });
});
