import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import { createLogger } from "../log.ts";
import type { SampledDecision } from "./decision-feed.ts";
import { DecisionLog } from "./decision-log.ts";
import { type LineBatch, Outbox } from "./outbox.ts";
import { Sampling } from "./sampling.ts";

const silent = createLogger({ level: "panic" });
const batch = (...decisions: object[]): LineBatch => {
  const lines = decisions.map((decision) => `${JSON.stringify(decision)}\n`).join("");
  return { lines, count: decisions.length, size: lines.length };
};

describe("the feed of decisions", () => {
  function create() {
    const demands: boolean[] = [];
    let now = 0;
    const log = new DecisionLog({
      writer: undefined,
      log: silent,
      onDemand: (needed) => demands.push(needed),
      now: () => now,
    });
    return {
      log,
      demands,
      pass: (milliseconds: number) => {
        now += milliseconds;
      },
    };
  }

  it("asks for decisions only while it has subscribers", () => {
    const { log, demands } = create();
    assert.equal(log.needed, false);
    const ends = [log.subscribe(() => {}), log.subscribe(() => {})];
    ends[0]!();
    ends[0]!();
    assert.equal(log.needed, true);
    ends[1]!();
    assert.equal(log.needed, false);
    assert.deepEqual(demands, [true, false]);
  });

  it("gives each subscriber each decision, and outlives one that throws", () => {
    const { log } = create();
    const got: SampledDecision[] = [];
    const listener = (decision: SampledDecision) => got.push(decision);
    const end = log.subscribe(listener);
    log.subscribe(() => assert.fail("a fault of a subscriber"));
    log.subscribe(listener);
    log.receive(batch({ domain: "a" }, { domain: "b" }));
    assert.deepEqual(
      got.map(({ domain }) => domain),
      ["a", "a", "b", "b"],
    );
    end();
    log.receive(batch({ domain: "c" }));
    assert.equal(got.length, 5);
  });

  it("passes at most 1000 decisions in a second", () => {
    const { log, pass } = create();
    let got = 0;
    log.subscribe(() => got++);
    const many = batch(...Array.from({ length: 1500 }, (_, index) => ({ domain: `${index}` })));
    log.receive(many);
    assert.equal(got, 1000);
    pass(1000);
    log.receive(many);
    assert.equal(got, 2000);
  });

  it("writes all lines to the log, with or without subscribers", () => {
    const written: string[] = [];
    const writer = { write: (lines: string) => written.push(lines), dropped: 0, flush: async () => {} };
    const log = new DecisionLog({ writer, log: silent, onDemand: () => assert.fail("no change") });
    assert.equal(log.needed, true);
    log.receive(batch({ domain: "a" }));
    log.subscribe(() => {})();
    log.receive(batch({ domain: "b" }));
    assert.equal(written.join(""), '{"domain":"a"}\n{"domain":"b"}\n');
  });
});

describe("the outbox of a thread", () => {
  it("sends lines in batches, and drops lines for which the main thread has no room", () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      const sent: LineBatch[] = [];
      const dropped = { value: 0 };
      const outbox = new Outbox({ send: (lines) => sent.push(lines), dropped, maxHeldBytes: 12 });
      for (const line of ["aaa", "bbb", "ccc", "ddd"]) outbox.add(line);
      assert.deepEqual([sent.length, dropped.value], [0, 1]);
      mock.timers.tick(50);
      assert.deepEqual(sent, [{ lines: "aaa\nbbb\nccc\n", count: 3, size: 12 }]);
      outbox.add("eee");
      assert.equal(dropped.value, 2);
      outbox.taken(12);
      outbox.add("fff");
      outbox.flush();
      outbox.flush();
      assert.deepEqual(sent.slice(1), [{ lines: "fff\n", count: 1, size: 4 }]);
    } finally {
      mock.timers.reset();
    }
  });
});

describe("sampling", () => {
  it("chooses a share of all hashes, always the same ones", () => {
    for (const [rate, share] of [
      [0, 0],
      [0.25, 0.25],
      [1, 1],
    ] as const) {
      const sampling = new Sampling({ rate, refusalsPerSecond: 0 });
      let chosen = 0;
      for (let index = 0; index < 1000; index++) if (sampling.has(Math.imul(index, 0x9e3779b1))) chosen++;
      assert.ok(Math.abs(chosen / 1000 - share) < 0.01, `${rate}: ${chosen}`);
    }
    assert.ok(new Sampling({ rate: 1, refusalsPerSecond: 0 }).has(-1));
  });

  it("takes a bounded number of refusals in each second", () => {
    const sampling = new Sampling({ rate: 0, refusalsPerSecond: 2 });
    const taken = [0, 10, 20, 999, 1000, 1001, 1002].map((now) => sampling.takeRefusal(now));
    assert.deepEqual(taken, [true, true, false, false, true, true, false]);
  });
});
