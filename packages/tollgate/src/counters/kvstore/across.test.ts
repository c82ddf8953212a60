import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Count, type CountRequest, Outcome, StoreError } from "../store.ts";
import { countAcross, type Part } from "./across.ts";

const { COUNTED, EXCEEDS, HELD } = Outcome;

function count(stem: string, hits: number, limit: number): Count {
  return { stem, windowStart: 0, windowSize: 60, hits, limit, outcome: COUNTED, after: -1 };
}

/** A store of one part, as exact as ours, that can be made to misbehave between the two steps. */
class Server {
  readonly values = new Map<string, number>();
  readonly requests: CountRequest[] = [];
  before: (request: CountRequest) => void = () => {};
  /** What its failure policy says. */
  answer: Outcome | undefined;
  hold: (request: CountRequest) => Promise<void> | undefined = () => undefined;

  async count(request: CountRequest): Promise<void> {
    await this.hold(request);
    this.requests.push(request);
    this.before(request);
    if (this.answer !== undefined) {
      for (const one of request.counts) Object.assign(one, { outcome: this.answer, after: 0 });
      return;
    }
    const now = new Map(this.values);
    let over = false;
    for (const one of request.counts) {
      const after = Math.max(0, (now.get(one.stem) ?? 0) + one.hits);
      const exceeds = request.allOrNothing && one.hits >= 0 && after > one.limit;
      one.outcome = exceeds ? EXCEEDS : request.allOrNothing ? HELD : COUNTED;
      one.after = exceeds ? (now.get(one.stem) ?? 0) : after;
      if (!exceeds) now.set(one.stem, after);
      over ||= exceeds;
    }
    if (over) {
      for (const one of request.counts) one.after = this.values.get(one.stem) ?? 0;
      return;
    }
    for (const one of request.counts) one.outcome = COUNTED;
    for (const [stem, value] of now) this.values.set(stem, value);
  }
}

function setUp() {
  const [left, right] = [new Server(), new Server()];
  const run = (one: Count[], other: Count[], deadline = 0) => {
    const parts: Part[] = [
      { counts: one, count: (request) => left.count(request) },
      { counts: other, count: (request) => right.count(request) },
    ];
    const counts = [...one, ...other];
    return countAcross({ counts, allOrNothing: true, now: 0, deadline }, parts).then(() =>
      counts.map(({ outcome, after }) => [outcome, after]),
    );
  };
  return { left, right, run };
}

describe("all-or-nothing over several servers", () => {
  test("counts all where all fit", async () => {
    const { run } = setUp();
    assert.deepEqual(await run([count("a", 2, 5)], [count("b", 1, 5), count("b", 1, 5)]), [
      [COUNTED, 2],
      [COUNTED, 1],
      [COUNTED, 2],
    ]);
  });

  test("looks only, where one does not fit", async () => {
    const { left, right, run } = setUp();
    right.values.set("b", 5);
    assert.deepEqual(await run([count("a", 2, 5)], [count("b", 1, 5), count("c", 0, 5)]), [
      [HELD, 0],
      [EXCEEDS, 5],
      [HELD, 0],
    ]);
    assert.deepEqual([...left.values], [["a", 0]]);
    assert.equal(left.requests.length, 1);
  });

  test("the same counter twice is judged at its own position", async () => {
    const { run } = setUp();
    assert.deepEqual(await run([count("a", 3, 5), count("a", 3, 5)], [count("b", 1, 5)]), [
      [HELD, 0],
      [EXCEEDS, 0],
      [HELD, 0],
    ]);
  });

  test("somebody was quicker between the look and the count: what others counted is given back", async () => {
    const { left, right, run } = setUp();
    left.values.set("a", 1);
    right.before = ({ allOrNothing }) => {
      if (allOrNothing) right.values.set("b", 5);
    };
    assert.deepEqual(await run([count("a", 2, 9), count("z", -1, 9)], [count("b", 1, 5)]), [
      [HELD, 1],
      [HELD, 0],
      [EXCEEDS, 5],
    ]);
    assert.equal(left.values.get("a"), 1);
  });

  test("a server that fails at the look: nothing is counted", async () => {
    const { left, right, run } = setUp();
    right.before = () => {
      throw new StoreError("STORE_TIMEOUT", "slow");
    };
    await assert.rejects(run([count("a", 2, 9)], [count("b", 1, 5)]), { code: "STORE_TIMEOUT" });
    assert.equal(left.values.get("a"), 0);
  });

  test("a server that fails at the count: what the other counted is given back, the failure is told", async () => {
    const { left, right, run } = setUp();
    right.before = ({ allOrNothing }) => {
      if (allOrNothing) throw new StoreError("STORE_UNAVAILABLE", "gone");
    };
    await assert.rejects(run([count("a", 2, 9)], [count("b", 1, 5)]), { code: "STORE_UNAVAILABLE" });
    assert.equal(left.values.get("a"), 0);
  });

  test("a giving back that fails is not the caller's trouble", async () => {
    const { left, right, run } = setUp();
    right.before = ({ allOrNothing }) => {
      if (allOrNothing) right.values.set("b", 5);
    };
    left.before = ({ counts }) => {
      if (counts[0]!.hits < 0) throw new StoreError("STORE_UNAVAILABLE", "gone");
    };
    const [first, second] = await run([count("a", 2, 9)], [count("b", 1, 5)]);
    assert.equal(first![0], HELD);
    assert.deepEqual(second, [EXCEEDS, 5]);
  });

  test("the giving back holds up nobody beyond its deadline, nor who is told of a failure", async () => {
    for (const fails of [false, true]) {
      const { left, right, run } = setUp();
      left.values.set("a", 1);
      const gate = Promise.withResolvers<void>();
      left.hold = ({ counts }) => (counts[0]!.hits < 0 ? gate.promise : undefined);
      right.before = ({ allOrNothing }) => {
        if (allOrNothing && fails) throw new StoreError("STORE_UNAVAILABLE", "gone");
        if (allOrNothing) right.values.set("b", 5);
      };
      const running = run([count("a", 2, 9), count("a", 3, 9)], [count("b", 1, 5)], fails ? 0 : 20);
      if (fails) await assert.rejects(running, { code: "STORE_UNAVAILABLE" });
      else
        assert.deepEqual(await running, [
          [HELD, 1],
          [HELD, 1],
          [EXCEEDS, 5],
        ]);
      assert.equal(left.values.get("a"), 6, "not yet given back");
      gate.resolve();
      await new Promise(setImmediate);
      assert.equal(left.values.get("a"), 1, "given back all the same");
    }
  });

  test("the time that the look took is not given to the count once more", async () => {
    const { left, run } = setUp();
    left.hold = async ({ allOrNothing }) => {
      if (!allOrNothing) await new Promise((resolve) => setTimeout(resolve, 15));
    };
    await run([count("a", 1, 9)], [count("b", 1, 9)], 1000);
    const [look, counted] = left.requests;
    assert.equal(look!.now, 0);
    assert.ok(counted!.now >= 14, `${counted!.now} ms have passed`);
    assert.equal(counted!.deadline, 1000);
  });

  test("an instance behind its failure policy: who is allowed holds nobody back, who is denied holds all", async () => {
    for (const [policy, others] of [
      [Outcome.ALLOWED, COUNTED],
      [Outcome.DENIED, HELD],
    ] as const) {
      const { left, right, run } = setUp();
      right.answer = policy;
      assert.deepEqual(await run([count("a", 2, 9)], [count("b", 1, 5)]), [
        [others, others === COUNTED ? 2 : 0],
        [policy, 0],
      ]);
      assert.equal(left.values.get("a"), others === COUNTED ? 2 : 0);
    }
  });

  test("an instance that falls sick between the look and the count, and denies: what the other one counted is given back", async () => {
    const { left, right, run } = setUp();
    right.before = ({ allOrNothing }) => {
      if (allOrNothing) right.answer = Outcome.DENIED;
    };
    assert.deepEqual(await run([count("a", 2, 9)], [count("b", 1, 5)]), [
      [HELD, 0],
      [Outcome.DENIED, 0],
    ]);
    assert.equal(left.values.get("a"), 0);
  });
});
