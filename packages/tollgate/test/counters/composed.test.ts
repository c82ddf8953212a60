/** Tests over-limit cache, failure policy and store together, in the order of the service. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EmbeddedStore } from "../../src/counters/embedded/embedded-store.ts";
import { type FailureMode, FailurePolicy } from "../../src/counters/failure-policy.ts";
import { OverLimitCache } from "../../src/counters/over-limit-cache.ts";
import {
  type CounterStore,
  type CountRequest,
  HoldBack,
  Outcome,
  StoreError,
} from "../../src/counters/store.ts";
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
