/** The over-limit cache in front of limits of every algorithm: it serves plain fixed windows only. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  acquireConformance,
  type GroupFields,
  makeAcquire,
} from "../../test/counters/acquire-conformance.ts";
import { AcquireModel } from "../../test/counters/acquire-model.ts";
import type { AlgorithmName } from "./algorithms/algorithm.ts";
import { Invalidations } from "./invalidations.ts";
import { OverLimitCache } from "./over-limit-cache.ts";
import { type AcquireRequest, HoldBack, Outcome, Refuses } from "./store.ts";

const { COUNTED, KNOWN_OVER, HELD } = Outcome;
const NOW = 1_800_000_000_000;

/** Records the number of groups of each request. It answers at once, later, or with an error. */
class RecordingModel extends AcquireModel {
  readonly asked: number[] = [];
  mode: "at once" | "later" | "lost" = "at once";

  override acquire(request: AcquireRequest): void | Promise<void> {
    this.asked.push(request.groups.length);
    super.acquire(request);
    if (this.mode === "later") return Promise.resolve();
    if (this.mode === "lost") return Promise.reject(new Error("the answer is lost"));
  }
}

acquireConformance("over-limit cache, switched off", {
  makeStore: () => new OverLimitCache(new AcquireModel(), { sizeInBytes: 0 }),
});
acquireConformance("over-limit cache without room", {
  makeStore: () => new OverLimitCache(new AcquireModel(), { sizeInBytes: 1 }),
});

function setUp(mode: RecordingModel["mode"]) {
  const store = new RecordingModel();
  store.mode = mode;
  const invalidations = new Invalidations();
  const cache = new OverLimitCache(store, { sizeInBytes: 100_000, invalidations });
  const peer = new OverLimitCache(store, { sizeInBytes: 100_000, invalidations });
  const run = async (groups: readonly GroupFields[], holdBack?: HoldBack, to = cache) => {
    const request = makeAcquire(groups, NOW, holdBack);
    await to.acquire(request);
    return request.groups.map(({ outcome, accepted }) => [outcome, accepted]);
  };
  return { store, cache, peer, run };
}

const plain = (hits = 1): GroupFields => ({ limits: [{ stem: "plain:", limit: 2 }], hits });
const other = (algorithm: AlgorithmName): GroupFields => ({
  limits: [{ stem: `${algorithm}:`, algorithm, limit: 1 }],
});

describe("over-limit cache", () => {
  for (const mode of ["at once", "later"] as const) {
    test(`answers for a plain window above its limit, and asks for the others (${mode})`, async () => {
      const { store, run } = setUp(mode);
      assert.deepEqual(await run([plain(3), other("token_bucket")]), [
        [COUNTED, false],
        [COUNTED, true],
      ]);
      assert.deepEqual(await run([plain(), other("token_bucket")]), [
        [KNOWN_OVER, false],
        [COUNTED, false],
      ]);
      assert.deepEqual(await run([plain()]), [[KNOWN_OVER, false]]);
      assert.deepEqual(store.asked, [2, 1]);
    });

    test(`holds the others back if a known refusal refuses the request (${mode})`, async () => {
      const { run } = setUp(mode);
      await run([plain(3)]);
      assert.deepEqual(await run([plain(), other("sliding_window")], HoldBack.WHEN_REFUSED), [
        [KNOWN_OVER, false],
        [HELD, true],
      ]);
      const shadow = { ...plain(), refuses: Refuses.NEVER };
      assert.deepEqual(await run([shadow, other("sliding_window")], HoldBack.WHEN_REFUSED), [
        [KNOWN_OVER, false],
        [COUNTED, true],
      ]);
    });

    test(`never answers for another algorithm (${mode})`, async () => {
      const { store, run } = setUp(mode);
      for (const algorithm of ["accepted_window", "sliding_window", "token_bucket"] as const)
        for (const accepted of [true, false, false])
          assert.deepEqual(await run([other(algorithm)]), [[COUNTED, accepted]]);
      assert.equal(store.asked.length, 9);
    });
  }

  test("never answers for accepted hits above a limit that a reload lowered", async () => {
    const { store, run } = setUp("at once");
    const limits = (limit: number): GroupFields => ({
      limits: [{ stem: "accepted:", algorithm: "accepted_window", limit }],
    });
    for (let call = 0; call < 3; call++) assert.deepEqual(await run([limits(5)]), [[COUNTED, true]]);
    for (let call = 0; call < 3; call++) assert.deepEqual(await run([limits(2)]), [[COUNTED, false]]);
    assert.equal(store.asked.length, 6);
  });

  for (const mode of ["at once", "later", "lost"] as const)
    test(`a refund drops the entries of all threads (${mode})`, async () => {
      const { store, peer, run } = setUp("at once");
      await run([plain(3)]);
      await run([plain(1)], HoldBack.NEVER, peer);
      assert.deepEqual(await run([plain(0)], HoldBack.NEVER, peer), [[KNOWN_OVER, false]]);
      store.mode = mode;
      await run([plain(-4), other("token_bucket")]).catch(() => {});
      store.mode = "at once";
      assert.deepEqual(await run([plain()], HoldBack.NEVER, peer), [[COUNTED, true]]);
      assert.deepEqual(await run([plain()]), [[COUNTED, true]]);
    });
});
