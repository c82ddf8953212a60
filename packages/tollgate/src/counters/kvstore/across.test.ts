import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { countTogether } from "../count-together.ts";
import { type Count, type CountRequest, HoldBack, Outcome, Refuses, StoreError } from "../store.ts";
import { countAcross, type Part } from "./across.ts";

const { COUNTED, HELD } = Outcome;
const { NEVER, TOGETHER } = Refuses;

function count(stem: string, hits: number, limit: number, refuses: Refuses = Refuses.ALWAYS): Count {
  return { stem, windowStart: 0, windowSize: 60, hits, limit, refuses, outcome: COUNTED, after: -1 };
}

/** An exact store of one part. Tests can inject faults between its two steps. */
class Server {
  readonly values = new Map<string, number>();
  readonly requests: CountRequest[] = [];
  before: (request: CountRequest) => void = () => {};
  /** The outcome of its failure policy. */
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
    const looks = request.counts.map(({ stem }) => ({
      outcome: COUNTED,
      after: this.values.get(stem) ?? 0,
    }));
    countTogether(request.counts, looks, request.holdBack);
    for (const { stem, outcome, after } of request.counts)
      if (outcome === COUNTED) this.values.set(stem, after);
  }
}

function setUp() {
  const [left, right] = [new Server(), new Server()];
  const refunded: string[] = [];
  const run = (
    one: Count[],
    other: Count[],
    { deadline = 0, holdBack = HoldBack.WHEN_REFUSED as HoldBack } = {},
  ) => {
    const parts: Part[] = [
      { counts: one, count: (request) => left.count(request) },
      { counts: other, count: (request) => right.count(request) },
    ];
    const counts = [...one, ...other];
    return countAcross({ counts, holdBack, now: 0, deadline }, parts, (taken) =>
      refunded.push(...taken.map(({ stem }) => stem)),
    ).then(() => counts.map(({ outcome, after }) => [outcome, after]));
  };
  return { left, right, run, refunded };
}

describe("counts that hold each other back over several servers", () => {
  test("counts all if all fit", async () => {
    const { run } = setUp();
    assert.deepEqual(await run([count("a", 2, 5)], [count("b", 1, 5), count("b", 1, 5)]), [
      [COUNTED, 2],
      [COUNTED, 1],
      [COUNTED, 2],
    ]);
  });

  test("counts the counter that exceeds, and only looks at the others", async () => {
    const { left, right, run } = setUp();
    right.values.set("b", 5);
    assert.deepEqual(await run([count("a", 2, 5)], [count("b", 1, 5), count("c", 0, 5)]), [
      [HELD, 0],
      [COUNTED, 6],
      [HELD, 0],
    ]);
    assert.deepEqual([...left.values], [["a", 0]]);
    assert.equal(left.requests.length, 1);
    assert.equal(right.values.get("b"), 6);
  });

  test("every counter that exceeds is counted", async () => {
    const { run } = setUp();
    assert.deepEqual(await run([count("a", 2, 1), count("z", 1, 5)], [count("b", 6, 5)]), [
      [COUNTED, 2],
      [HELD, 0],
      [COUNTED, 6],
    ]);
  });

  test("the same counter twice has a position for each count", async () => {
    const { run } = setUp();
    assert.deepEqual(await run([count("a", 3, 5), count("a", 3, 5)], [count("b", 1, 5)]), [
      [COUNTED, 3],
      [COUNTED, 6],
      [HELD, 0],
    ]);
  });

  test("a count in shadow mode holds nothing back", async () => {
    const { run } = setUp();
    assert.deepEqual(await run([count("a", 2, 1, NEVER)], [count("b", 1, 5)]), [
      [COUNTED, 2],
      [COUNTED, 1],
    ]);
  });

  test("quotas refuse together, over all servers", async () => {
    for (const [limit, held] of [
      [5, false],
      [0, true],
    ] as const) {
      const { run } = setUp();
      assert.deepEqual(
        await run([count("a", 1, 0, TOGETHER), count("x", 1, 9)], [count("b", 1, limit, TOGETHER)]),
        [[COUNTED, 1], held ? [HELD, 0] : [COUNTED, 1], [COUNTED, 1]],
      );
    }
  });

  test("quotas that start to refuse together between the look and the count", async () => {
    const { left, right, run } = setUp();
    right.before = () => {
      if (right.requests.length === 2) right.values.set("b", 5);
    };
    assert.deepEqual(
      await run([count("a", 1, 0, TOGETHER), count("x", 1, 9)], [count("b", 1, 5, TOGETHER)]),
      [
        [COUNTED, 1],
        [HELD, 0],
        [COUNTED, 6],
      ],
    );
    assert.equal(left.values.get("x"), 0);
  });

  test("a count outside the request holds back all counts that do not exceed, without a first read", async () => {
    const { left, right, run } = setUp();
    assert.deepEqual(await run([count("a", 1, 5)], [count("b", 6, 5)], { holdBack: HoldBack.ALWAYS }), [
      [HELD, 0],
      [COUNTED, 6],
    ]);
    assert.equal(left.requests.length + right.requests.length, 2);
  });

  test("refunds the other parts when another caller was faster between the look and the count", async () => {
    const { left, right, run, refunded } = setUp();
    left.values.set("a", 1);
    right.before = ({ holdBack }) => {
      if (holdBack !== HoldBack.NEVER) right.values.set("b", 5);
    };
    assert.deepEqual(await run([count("a", 2, 9), count("z", -1, 9)], [count("b", 1, 5)]), [
      [HELD, 1],
      [COUNTED, 0],
      [COUNTED, 6],
    ]);
    assert.equal(left.values.get("a"), 1);
    assert.deepEqual(refunded, ["a"]);
  });

  test("counts nothing when a server fails at the look", async () => {
    const { left, right, run } = setUp();
    right.before = () => {
      throw new StoreError("STORE_TIMEOUT", "slow");
    };
    await assert.rejects(run([count("a", 2, 9)], [count("b", 1, 5)]), { code: "STORE_TIMEOUT" });
    assert.equal(left.values.get("a"), 0);
  });

  test("refunds the other part and throws when a server fails at the count", async () => {
    const { left, right, run } = setUp();
    right.before = ({ holdBack }) => {
      if (holdBack !== HoldBack.NEVER) throw new StoreError("STORE_UNAVAILABLE", "gone");
    };
    await assert.rejects(run([count("a", 2, 9)], [count("b", 1, 5)]), { code: "STORE_UNAVAILABLE" });
    assert.equal(left.values.get("a"), 0);
  });

  test("answers the caller although the refund fails", async () => {
    const { left, right, run } = setUp();
    right.before = ({ holdBack }) => {
      if (holdBack !== HoldBack.NEVER) right.values.set("b", 5);
    };
    left.before = ({ counts }) => {
      if (counts[0]!.hits < 0) throw new StoreError("STORE_UNAVAILABLE", "gone");
    };
    const [first, second] = await run([count("a", 2, 9)], [count("b", 1, 5)]);
    assert.equal(first![0], HELD);
    assert.deepEqual(second, [COUNTED, 6]);
  });

  test("the refund delays no caller beyond its deadline, and no error", async () => {
    for (const fails of [false, true]) {
      const { left, right, run } = setUp();
      left.values.set("a", 1);
      const gate = Promise.withResolvers<void>();
      left.hold = ({ counts }) => (counts[0]!.hits < 0 ? gate.promise : undefined);
      right.before = ({ holdBack }) => {
        if (holdBack !== HoldBack.NEVER && fails) throw new StoreError("STORE_UNAVAILABLE", "gone");
        if (holdBack !== HoldBack.NEVER) right.values.set("b", 5);
      };
      const running = run([count("a", 2, 9), count("a", 3, 9)], [count("b", 1, 5)], {
        deadline: fails ? 0 : 20,
      });
      if (fails) await assert.rejects(running, { code: "STORE_UNAVAILABLE" });
      else
        assert.deepEqual(await running, [
          [HELD, 1],
          [HELD, 1],
          [COUNTED, 6],
        ]);
      assert.equal(left.values.get("a"), 6, "not yet refunded");
      gate.resolve();
      await new Promise(setImmediate);
      assert.equal(left.values.get("a"), 1, "refunded in the end");
    }
  });

  test("the deadline of the count excludes the time of the look", async () => {
    const { left, run } = setUp();
    left.hold = async ({ holdBack }) => {
      if (holdBack === HoldBack.NEVER) await new Promise((resolve) => setTimeout(resolve, 15));
    };
    await run([count("a", 1, 9)], [count("b", 1, 9)], { deadline: 1000 });
    const [look, counted] = left.requests;
    assert.equal(look!.now, 0);
    assert.ok(counted!.now >= 14, `${counted!.now} ms have passed`);
    assert.equal(counted!.deadline, 1000);
  });

  test("ALLOWED counts hold nothing back, and DENIED counts hold all others back", async () => {
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

  test("refunds the other instance when one fails between the look and the count and denies", async () => {
    const { left, right, run } = setUp();
    right.before = ({ holdBack }) => {
      if (holdBack !== HoldBack.NEVER) right.answer = Outcome.DENIED;
    };
    assert.deepEqual(await run([count("a", 2, 9)], [count("b", 1, 5)]), [
      [HELD, 0],
      [Outcome.DENIED, 0],
    ]);
    assert.equal(left.values.get("a"), 0);
  });
});
