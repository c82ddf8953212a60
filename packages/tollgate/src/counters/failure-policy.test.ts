import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { makeCount, makeRequest, storeConformance } from "../../test/counters/conformance.ts";
import { EmbeddedStore } from "./embedded/embedded-store.ts";
import { FailurePolicy, type FailurePolicyOptions } from "./failure-policy.ts";
import {
  type CounterStore,
  type CountRequest,
  HoldBack,
  Outcome,
  StoreError,
  type StoreErrorCode,
} from "./store.ts";

const NOW = 1_800_000_000_000;

/** A store that counts, fails or hangs under the control of a test, at once or later. */
class SickStore implements CounterStore {
  readonly kind = "kvstore";
  readonly embedded = EmbeddedStore.create({ sizeInBytes: 65_536, reclaimInterval: 0 });
  sickness: Error | undefined;
  late = false;
  asked = 0;
  closed = false;
  readonly waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];

  count(request: CountRequest): void | Promise<void> {
    this.asked += 1;
    if (this.late)
      return new Promise<void>((resolve, reject) => this.waiting.push({ resolve, reject })).then(() =>
        this.embedded.count(request),
      );
    if (this.sickness !== undefined) throw this.sickness;
    this.embedded.count(request);
  }

  close(): Promise<void> {
    this.closed = true;
    return this.embedded.close();
  }
}

const error = (code: StoreErrorCode) => new StoreError(code, `${code} of the test`);

function setUp(options: FailurePolicyOptions = {}) {
  const store = new SickStore();
  const time = { now: NOW };
  const failures: [StoreErrorCode, boolean][] = [];
  const lines: string[] = [];
  const policy = new FailurePolicy(store, {
    onFailure: ({ code }, answered) => failures.push([code, answered]),
    onTransition: (degraded, message) => lines.push(`${degraded}: ${message}`),
    ...options,
    breaker: { clock: () => time.now, random: () => 1 },
  });
  /** `outcome after` of one count; or the code of the error. */
  const run = async (fields: Partial<CountRequest> = {}, stem = "k:") => {
    const count = makeCount({ stem, windowStart: NOW / 1000 });
    try {
      await policy.count(makeRequest([count], { now: time.now, ...fields }));
      return [count.outcome, count.after];
    } catch (caught) {
      assert.ok(caught instanceof StoreError, String(caught));
      return caught.code;
    }
  };
  return { store, time, failures, lines, policy, run };
}

storeConformance("failure policy over a store that is well", {
  makeStore: () => new FailurePolicy(EmbeddedStore.create({ sizeInBytes: 1024 ** 2 })),
});

describe("failure policy", () => {
  const answers: [FailurePolicyOptions["mode"], unknown][] = [
    ["error", "STORE_UNAVAILABLE"],
    ["allow", [Outcome.ALLOWED, 0]],
    ["deny", [Outcome.DENIED, 0]],
  ];
  for (const [mode, answer] of answers)
    for (const late of [false, true])
      test(`${mode}: store fails ${late ? "later" : "at once"}, then the breaker opens, then the store recovers`, async () => {
        const { store, time, failures, lines, policy, run } = setUp({ mode: mode! });
        assert.deepEqual(await run(), [Outcome.COUNTED, 1]);
        time.now += 1000;
        store.late = late;
        store.sickness = error("STORE_UNAVAILABLE");
        for (let call = 1; call <= 5; call++) {
          const running = run();
          if (late) store.waiting.shift()!.reject(store.sickness);
          assert.deepEqual(await running, answer);
          assert.equal(policy.degraded, call < 5 ? 0 : 1);
        }
        assert.deepEqual(lines.length, 1);
        const { asked } = store;
        for (let call = 0; call < 100; call++) assert.deepEqual(await run(), answer);
        assert.equal(store.asked, asked, "no call reaches the store");
        assert.equal(failures.length, 105);
        assert.ok(
          failures.every(
            ([code, answered]) => code === "STORE_UNAVAILABLE" && answered === (mode !== "error"),
          ),
        );

        store.sickness = undefined;
        store.late = false;
        time.now += 250;
        assert.deepEqual(await run(), [Outcome.COUNTED, 2]);
        assert.equal(policy.degraded, 0);
        assert.deepEqual(await run(), [Outcome.COUNTED, 3]);
        assert.equal(lines.length, 2);
        assert.match(
          lines[0]!,
          /^true: the kvstore store fails \(STORE_UNAVAILABLE of the test\): calls .* until it is back$/,
        );
        assert.match(lines[1]!, /^false: the kvstore store is back after 0.3 s$/);
      });

  test("local: counts locally until the store recovers, then in the store again", async (t) => {
    const local = EmbeddedStore.create({ sizeInBytes: 65_536 });
    const { store, time, policy, run } = setUp({ mode: "local", local });
    t.after(() => policy.close());
    for (const value of [1, 2]) assert.deepEqual(await run(), [Outcome.COUNTED, value]);
    time.now += 1000;
    store.sickness = error("STORE_TIMEOUT");
    for (let value = 1; value <= 20; value++) assert.deepEqual(await run(), [Outcome.COUNTED, value]);
    store.sickness = undefined;
    time.now += 250;
    assert.deepEqual(await run(), [Outcome.COUNTED, 3]);
  });

  test("local: holds counts back like the store", async () => {
    const local = EmbeddedStore.create({ sizeInBytes: 65_536 });
    const { store, policy } = setUp({ mode: "local", local });
    store.sickness = error("STORE_UNAVAILABLE");
    const counts = [makeCount({ stem: "a:", limit: 0 }), makeCount({ stem: "b:" })];
    await policy.count(makeRequest(counts, { holdBack: HoldBack.WHEN_REFUSED }));
    assert.deepEqual(
      counts.map(({ outcome }) => outcome),
      [Outcome.COUNTED, Outcome.HELD],
    );
    await policy.close();
  });

  test("local requires a store", () => {
    assert.throws(() => new FailurePolicy(new SickStore(), { mode: "local" }), /needs a store: pass one/);
  });

  for (const mode of ["error", "allow", "deny"] as const)
    test(`${mode}: an unusable key fails only its own call`, async () => {
      const { store, time, failures, lines, policy, run } = setUp({ mode });
      store.sickness = error("KEY_UNUSABLE");
      time.now += 10_000;
      for (let call = 0; call < 50; call++) assert.equal(await run(), "KEY_UNUSABLE");
      assert.equal(policy.degraded, 0);
      assert.deepEqual(lines, []);
      assert.equal(failures.length, 50);
      assert.deepEqual(failures[0], ["KEY_UNUSABLE", false]);
    });

  for (const mode of ["error", "allow", "deny"] as const)
    test(`${mode}: the policy answers calls that do not fit, and the breaker stays closed`, async () => {
      const { store, time, failures, policy, run } = setUp({ mode });
      await run();
      store.sickness = error("STORE_FULL");
      time.now += 10_000;
      const answer = {
        error: "STORE_FULL",
        allow: [Outcome.ALLOWED, 0],
        deny: [Outcome.DENIED, 0],
      }[mode];
      for (let call = 0; call < 50; call++) assert.deepEqual(await run(), answer);
      assert.equal(policy.degraded, 0);
      assert.deepEqual(failures[49], ["STORE_FULL", mode !== "error"]);
      store.sickness = undefined;
      assert.deepEqual(await run(), [Outcome.COUNTED, 2]);
    });

  test("after a probe with an unusable key the next call is a probe", async () => {
    const { store, time, policy, run } = setUp({ mode: "allow" });
    store.sickness = error("STORE_UNAVAILABLE");
    for (let call = 0; call < 5; call++) await run();
    time.now += 250;
    store.sickness = error("KEY_UNUSABLE");
    assert.equal(await run(), "KEY_UNUSABLE");
    assert.equal(policy.degraded, 1);
    store.sickness = undefined;
    assert.deepEqual(await run(), [Outcome.COUNTED, 1]);
    assert.equal(policy.degraded, 0);
  });

  describe("the caller's deadline", () => {
    test("a deadline that has already passed fails the call before the store", async () => {
      const { store, failures, run } = setUp({ mode: "allow" });
      assert.equal(await run({ deadline: NOW }), "DEADLINE_EXCEEDED");
      assert.equal(await run({ deadline: NOW - 1 }), "DEADLINE_EXCEEDED");
      assert.equal(store.asked, 0);
      assert.deepEqual(failures[0], ["DEADLINE_EXCEEDED", false]);
    });

    test("a missed deadline fails the call in every mode", async () => {
      for (const mode of ["error", "allow", "deny"] as const) {
        const { store, run } = setUp({ mode });
        store.sickness = error("DEADLINE_EXCEEDED");
        assert.equal(await run({ deadline: NOW + 20 }), "DEADLINE_EXCEEDED");
      }
    });

    test("deadlines that are missed because they are very short do not open the breaker", async () => {
      const { store, time, policy, run } = setUp({ mode: "allow" });
      await run();
      store.sickness = error("DEADLINE_EXCEEDED");
      time.now += 60_000;
      for (let call = 0; call < 100; call++)
        assert.equal(await run({ deadline: time.now + 9 }), "DEADLINE_EXCEEDED");
      assert.equal(policy.degraded, 0);
    });

    test("deadlines that all calls miss for a second open the breaker", async () => {
      const { store, time, lines, policy, run } = setUp({ mode: "allow" });
      await run();
      store.sickness = error("DEADLINE_EXCEEDED");
      for (let call = 0; call < 50; call++) {
        time.now += 20;
        assert.equal(await run({ deadline: time.now + 20 }), "DEADLINE_EXCEEDED");
        assert.equal(policy.degraded, call < 49 ? 0 : 1);
      }
      assert.deepEqual(await run({ deadline: time.now + 20 }), [Outcome.ALLOWED, 0]);
      assert.match(lines[0]!, /DEADLINE_EXCEEDED of the test/);
    });

    test("deadlines that some calls miss while others succeed do not open the breaker", async () => {
      const { store, time, policy, run } = setUp({ mode: "allow" });
      for (let call = 0; call < 500; call++) {
        time.now += 20;
        store.sickness = call % 10 === 0 ? undefined : error("DEADLINE_EXCEEDED");
        await run({ deadline: time.now + 20 });
        assert.equal(policy.degraded, 0);
      }
    });
  });

  test("answers calls beyond the bound at once, with the breaker closed", async () => {
    const { store, time, policy, failures, run } = setUp({ mode: "deny", maxInFlight: 3 });
    store.late = true;
    time.now += 10_000;
    const running = [run(), run(), run()];
    assert.equal(policy.inFlight, 3);
    for (let call = 0; call < 20; call++) assert.deepEqual(await run(), [Outcome.DENIED, 0]);
    assert.equal(store.asked, 3);
    assert.equal(failures.length, 20);
    store.waiting.shift()!.resolve();
    assert.deepEqual(await running[0], [Outcome.COUNTED, 1]);
    assert.equal(policy.inFlight, 2);
    const next = run();
    for (const { resolve } of store.waiting.splice(0)) resolve();
    await Promise.all([...running, next]);
    assert.equal(policy.inFlight, 0);
    assert.equal(policy.degraded, 0);
  });

  test("a hanging store holds at most the bound of calls, and later one probe", async () => {
    const { store, time, policy, run } = setUp({ mode: "allow", maxInFlight: 100 });
    store.late = true;
    const running = Array.from({ length: 100 }, () => run());
    await run();
    time.now += 1000;
    for (const { reject } of store.waiting.splice(0)) reject(error("STORE_TIMEOUT"));
    for (const answer of await Promise.all(running)) assert.deepEqual(answer, [Outcome.ALLOWED, 0]);
    assert.equal(policy.degraded, 1);
    time.now += 250;
    const probe = run();
    for (let call = 0; call < 50; call++) assert.deepEqual(await run(), [Outcome.ALLOWED, 0]);
    assert.equal(store.waiting.length, 1);
    store.waiting.shift()!.resolve();
    assert.deepEqual(await probe, [Outcome.COUNTED, 1]);
  });

  test("treats an unexpected error as a failure of the store", async () => {
    const { store, policy, run } = setUp({ mode: "deny" });
    store.sickness = new TypeError("a fault in the store");
    for (let call = 0; call < 5; call++) assert.deepEqual(await run(), [Outcome.DENIED, 0]);
    assert.equal(policy.degraded, 1);
    const plain = setUp();
    plain.store.sickness = new TypeError("a fault in the store");
    assert.equal(await plain.run(), "STORE_UNAVAILABLE");
  });

  test("answers every count of a request", async () => {
    const { store, policy } = setUp({ mode: "deny" });
    store.sickness = error("STORE_UNAVAILABLE");
    const counts = ["a:", "b:", "c:"].map((stem) => makeCount({ stem }));
    await policy.count(makeRequest(counts));
    assert.deepEqual(
      counts.map(({ outcome }) => outcome),
      [Outcome.DENIED, Outcome.DENIED, Outcome.DENIED],
    );
  });

  test("closes both stores", async () => {
    const local = new SickStore();
    const { store, policy } = setUp({ mode: "local", local });
    await policy.close();
    assert.ok(store.closed && local.closed);
  });
});
