/** The failure policy for limits of every algorithm. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { acquireConformance, makeAcquire } from "../../test/counters/acquire-conformance.ts";
import { AcquireModel } from "../../test/counters/acquire-model.ts";
import type { AlgorithmName } from "./algorithms/algorithm.ts";
import { algorithms } from "./algorithms/algorithms.ts";
import type { FailureMode } from "./failure-methods.ts";
import { FailurePolicy } from "./failure-policy.ts";
import { type AcquireRequest, Outcome, StoreError } from "./store.ts";

const NOW = 1_800_000_000_000;

/** The model, which fails while it has an error. */
class FailingModel extends AcquireModel {
  error: Error | undefined;
  late = false;

  override acquire(request: AcquireRequest): void | Promise<void> {
    if (this.error !== undefined && this.late) return Promise.reject(this.error);
    if (this.error !== undefined) throw this.error;
    super.acquire(request);
  }
}

acquireConformance("failure policy over a store that is well", {
  makeStore: () => new FailurePolicy(new AcquireModel()),
});

function setUp(mode: FailureMode) {
  const store = new FailingModel();
  const local = new AcquireModel();
  const failures: boolean[] = [];
  const policy = new FailurePolicy(store, {
    mode,
    ...(mode === "local" && { local }),
    onFailure: (_error, answered) => failures.push(answered),
    breaker: { clock: () => NOW, random: () => 1 },
  });
  const run = async (algorithm: AlgorithmName) => {
    const limits = [
      { stem: `{k}${algorithm}:`, algorithm, limit: 2 },
      { stem: `{k}${algorithm}:wide:`, algorithm, limit: 5 },
    ];
    const request = makeAcquire(
      [{ limits: algorithm === "fixed_window" ? limits.slice(0, 1) : limits }],
      NOW,
    );
    await policy.acquire(request);
    const [{ outcome, accepted }] = request.groups as [AcquireRequest["groups"][number]];
    return [outcome, accepted];
  };
  return { store, policy, run, failures };
}

describe("failure policy", () => {
  for (const algorithm of Object.keys(algorithms) as AlgorithmName[])
    for (const late of [false, true]) {
      const when = late ? "later" : "at once";
      for (const [mode, answer] of [
        ["allow", [Outcome.ALLOWED, true]],
        ["deny", [Outcome.DENIED, false]],
      ] as const)
        test(`${mode}, ${algorithm}: answers while the store fails ${when}, and with an open breaker`, async () => {
          const { store, policy, run, failures } = setUp(mode);
          store.error = new StoreError("STORE_UNAVAILABLE", "down");
          store.late = late;
          for (let call = 0; call < 12; call++) assert.deepEqual(await run(algorithm), answer);
          assert.equal(policy.degraded, 1);
          assert.deepEqual(failures, Array(12).fill(true));
        });

      test(`local, ${algorithm}: decides locally while the store fails ${when}`, async () => {
        const { store, run } = setUp("local");
        assert.deepEqual(await run(algorithm), [Outcome.COUNTED, true]);
        store.error = new StoreError("STORE_UNAVAILABLE", "down");
        store.late = late;
        for (const accepted of [true, true, false, false])
          assert.deepEqual(await run(algorithm), [Outcome.COUNTED, accepted]);
        store.error = undefined;
        assert.deepEqual(await run(algorithm), [Outcome.COUNTED, true], "the store has its own state");
      });
    }

  test("error: the call fails, and a passed deadline fails in every mode", async () => {
    const { store, run } = setUp("error");
    store.error = new StoreError("STORE_UNAVAILABLE", "down");
    await assert.rejects(run("token_bucket"), { code: "STORE_UNAVAILABLE" });
    const { policy } = setUp("allow");
    const late = { ...makeAcquire([{ limits: [{ stem: "k" }] }], NOW), deadline: NOW };
    assert.throws(() => policy.acquire(late), { code: "DEADLINE_EXCEEDED" });
  });
});
