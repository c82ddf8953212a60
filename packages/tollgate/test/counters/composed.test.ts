/** Tests over-limit cache, failure policy and store together, in the order of the service. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EmbeddedStore } from "../../src/counters/embedded/embedded-store.ts";
import type { FailureMode } from "../../src/counters/failure-methods.ts";
import { FailurePolicy } from "../../src/counters/failure-policy.ts";
import { OverLimitCache } from "../../src/counters/over-limit-cache.ts";
import {
  type AcquireRequest,
  type CounterStore,
  type CountRequest,
  HoldBack,
  Outcome,
  StoreError,
} from "../../src/counters/store.ts";
import { makeAcquire } from "./acquire-conformance.ts";
import { makeCount, makeRequest } from "./conformance.ts";

const NOW = 1_800_000_000_000;
const { COUNTED, KNOWN_OVER, ALLOWED, DENIED, HELD } = Outcome;

/** A remote store that can become unavailable. */
class RemoteStore implements CounterStore {
  readonly kind = "kvstore";
  readonly counters = EmbeddedStore.create({ sizeInBytes: 65_536, reclaimInterval: 0 });
  away = false;

  async count(request: CountRequest): Promise<void> {
    await Promise.resolve();
    if (this.away) throw new StoreError("STORE_UNAVAILABLE", "away");
    this.counters.count(request);
  }

  acquired = 0;
  async acquire(request: AcquireRequest): Promise<void> {
    await Promise.resolve();
    this.acquired++;
    if (this.away) throw new StoreError("STORE_UNAVAILABLE", "away");
    this.counters.acquire(request);
  }

  close(): Promise<void> {
    return this.counters.close();
  }
}

function setUp(mode: FailureMode) {
  const remote = new RemoteStore();
  const time = { now: NOW };
  const local = EmbeddedStore.create({ sizeInBytes: 65_536, reclaimInterval: 0 });
  const policy = new FailurePolicy(remote, { mode, local, breaker: { clock: () => time.now } });
  const store = new OverLimitCache(policy, { sizeInBytes: 100_000 });
  const run = async (stems: string[], options: Partial<CountRequest> = {}) => {
    const counts = stems.map((stem) => makeCount({ stem, limit: 3, windowStart: NOW / 1000 }));
    await store.count(makeRequest(counts, { now: time.now, ...options }));
    return counts.map(({ outcome, after }) => [outcome, after]);
  };
  return { remote, time, store, run };
}

describe("cache, policy and store together", () => {
  test("refuses known counters while the store is unavailable, although the policy allows calls", async () => {
    const { remote, run } = setUp("allow");
    for (const value of [1, 2, 3, 4]) assert.deepEqual(await run(["a:"]), [[COUNTED, value]]);
    remote.away = true;
    for (let call = 0; call < 20; call++)
      assert.deepEqual(await run(["a:", "b:"]), [
        [KNOWN_OVER, 3],
        [ALLOWED, 0],
      ]);
    assert.deepEqual(await run(["a:", "b:"], { holdBack: HoldBack.WHEN_REFUSED }), [
      [KNOWN_OVER, 3],
      [ALLOWED, 0],
    ]);
  });

  test("does not learn answers of the policy, and is exact again when the store recovers", async () => {
    for (const [mode, outcome] of [
      ["allow", ALLOWED],
      ["deny", DENIED],
    ] as const) {
      const { remote, time, store, run } = setUp(mode);
      remote.away = true;
      for (let call = 0; call < 20; call++) assert.deepEqual(await run(["a:"]), [[outcome, 0]]);
      assert.equal(store.gauges().entryCount, 0);
      remote.away = false;
      time.now += 250;
      assert.deepEqual(await run(["a:"]), [[COUNTED, 1]]);
    }
  });

  test("local: admits its own limit while the store is unavailable, and keeps used-up counters over", async () => {
    const { remote, time, run } = setUp("local");
    assert.deepEqual(await run(["a:"]), [[COUNTED, 1]]);
    remote.away = true;
    time.now += 1000;
    let admitted = 0;
    for (let call = 0; call < 20; call++) {
      const [[outcome, after]] = (await run(["a:"])) as [[Outcome, number]];
      if (outcome === COUNTED && after <= 3) admitted += 1;
    }
    assert.equal(admitted, 3, "the documented bound: the limit once for each process");
    remote.away = false;
    time.now += 10_000;
    assert.deepEqual(await run(["a:", "b:"]), [
      [KNOWN_OVER, 3],
      [COUNTED, 1],
    ]);
  });

  test("a known count holds the others back while the store works", async () => {
    const { run } = setUp("deny");
    for (let call = 0; call < 4; call++) await run(["a:"]);
    assert.deepEqual(await run(["b:"]), [[COUNTED, 1]]);
    assert.deepEqual(await run(["b:", "a:"], { holdBack: HoldBack.WHEN_REFUSED }), [
      [HELD, 1],
      [KNOWN_OVER, 3],
    ]);
  });
});

describe("limits of every algorithm through cache and policy", () => {
  const time = { now: NOW };
  const setUpLimits = (mode: FailureMode) => {
    const remote = new RemoteStore();
    const local = EmbeddedStore.create({ sizeInBytes: 65_536, reclaimInterval: 0 });
    const policy = new FailurePolicy(remote, { mode, local, breaker: { clock: () => time.now } });
    return { remote, store: new OverLimitCache(policy, { sizeInBytes: 100_000 }) };
  };
  const limits = (["accepted_window", "sliding_window", "token_bucket"] as const).map((algorithm) => ({
    stem: `${algorithm}:`,
    algorithm,
    limit: 3,
    windowSize: 86_400,
  }));
  const plain = { stem: "plain:", limit: 3, windowSize: 86_400 };

  for (const limit of limits)
    test(`${limit.algorithm}: each failure mode answers it while the store is unavailable`, async () => {
      for (const [mode, outcome] of [
        ["allow", ALLOWED],
        ["deny", DENIED],
        ["local", COUNTED],
      ] as const) {
        const { remote, store } = setUpLimits(mode);
        remote.away = true;
        const accepted: boolean[] = [];
        for (let call = 0; call < 5; call++) {
          const request = makeAcquire([{ limits: [limit] }], NOW);
          await store.acquire(request);
          assert.equal(request.groups[0]!.outcome, outcome);
          accepted.push(request.groups[0]!.accepted);
        }
        const passing = { allow: 5, deny: 0, local: 3 }[mode];
        assert.equal(accepted.filter(Boolean).length, passing, mode);
      }
      const { remote, store } = setUpLimits("error");
      remote.away = true;
      await assert.rejects(async () => store.acquire(makeAcquire([{ limits: [limit] }], NOW)), StoreError);
    });

  test("the cache refuses a plain window of a mixed request, and no other limit", async () => {
    const { remote, store } = setUpLimits("error");
    const ask = async (holdBack: HoldBack = HoldBack.NEVER, hits = 1) => {
      const groups = [{ limits: [plain], hits }, ...limits.map((limit) => ({ limits: [limit] }))];
      const request = makeAcquire(groups, NOW, holdBack);
      await store.acquire(request);
      return request.groups.map(({ outcome, accepted }) => [outcome, accepted]);
    };
    const all = (accepted: boolean) => limits.map(() => [COUNTED, accepted]);
    for (let call = 0; call < 3; call++) assert.deepEqual(await ask(), [[COUNTED, true], ...all(true)]);
    assert.deepEqual(await ask(), [[COUNTED, false], ...all(false)]);
    const asked = remote.acquired;
    assert.deepEqual(await ask(), [[KNOWN_OVER, false], ...all(false)]);
    assert.equal(remote.acquired, asked + 1, "the other limits are asked every time");
    // A refund drops the entry.
    assert.deepEqual(await ask(HoldBack.NEVER, -4), [[COUNTED, true], ...all(false)]);
    assert.deepEqual(await ask(), [[COUNTED, true], ...all(false)]);
  });

  test("a known counter holds the other groups back", async () => {
    const { store } = setUpLimits("error");
    const own = { ...plain, stem: "own:" };
    for (let call = 0; call < 4; call++) {
      const request = makeAcquire([{ limits: [own] }, { limits: [limits[2]!], hits: 0 }], NOW);
      await store.acquire(request);
    }
    const request = makeAcquire([{ limits: [own] }, { limits: [limits[2]!] }], NOW, HoldBack.WHEN_REFUSED);
    await store.acquire(request);
    assert.deepEqual(
      request.groups.map(({ outcome }) => outcome),
      [KNOWN_OVER, HELD],
    );
    assert.equal(request.groups[1]!.limits[0]!.used, 0);
  });
});
