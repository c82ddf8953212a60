import assert from "node:assert/strict";
import { test } from "node:test";
import type { DecisionFeed, SampledDecision } from "../observe/decision-log/decision-feed.ts";
import { decisionEvents, decisionFilter, fits } from "./decision-stream.ts";

function decision(value: string, code: SampledDecision["code"] = "OK"): SampledDecision {
  return {
    time: "2026-01-02T03:04:05.678Z",
    rate: 1,
    reason: "sample",
    domain: "shop",
    code,
    duration_us: 12,
    descriptors: [
      { entries: [["user", value]], hits: 1, sampled: true, code, rule: "shop.user", file: "shop.yaml:3" },
    ],
  };
}

/** A feed whose decisions the test sends. */
function createFeed() {
  const listeners = new Set<(decision: SampledDecision) => void>();
  const feed: DecisionFeed = {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const send = (sent: SampledDecision) => {
    for (const listener of listeners) listener(sent);
  };
  return { feed, send, listeners };
}

interface Batch {
  readonly decisions: readonly SampledDecision[];
  readonly dropped: number;
}

async function nextBatch(events: AsyncGenerator<string>): Promise<Batch> {
  const { value } = await events.next();
  const [, json] = /^data: (.*)\n\n$/.exec(value!)!;
  return JSON.parse(json!) as Batch;
}

for (const [query, expected] of [
  [{}, true],
  [{ filter: "ANN" }, true],
  [{ filter: "shop user=ann" }, true],
  [{ filter: "shop.yaml:3" }, true],
  [{ filter: "bob" }, false],
  [{ filter: "ann bob" }, false],
  [{ refused: "true" }, false],
  [{ filter: ["ann"] }, true],
] as const)
  test(`the filter ${JSON.stringify(query)}`, () =>
    assert.equal(fits(decision("ann"), decisionFilter(query)), expected));

test("the stream sends the decisions that fit the filter, and ends when its viewer leaves", async () => {
  const { feed, send, listeners } = createFeed();
  const leaving = new AbortController();
  const events = decisionEvents(feed, decisionFilter({ refused: "true" }), leaving.signal, 1);
  await events.next();
  assert.equal(listeners.size, 1);
  send(decision("ann"));
  send(decision("bob", "OVER_LIMIT"));
  const { decisions, dropped } = await nextBatch(events);
  assert.deepEqual(decisions, [decision("bob", "OVER_LIMIT")]);
  assert.equal(dropped, 0);
  const last = events.next();
  leaving.abort();
  await last;
  assert.equal((await events.next()).done, true);
  assert.equal(listeners.size, 0);
});

test("decisions that wait for a slow viewer are bounded, and dropped ones are counted", async () => {
  const { feed, send } = createFeed();
  const leaving = new AbortController();
  const events = decisionEvents(feed, decisionFilter({}), leaving.signal, 1);
  await events.next();
  for (let call = 0; call < 10_000; call++) send(decision(`user-${call}`.padEnd(200, "x")));
  const { value } = await events.next();
  assert.ok(value!.length < 300_000, `${value!.length}`);
  const { decisions, dropped } = JSON.parse(value!.slice(6)) as Batch;
  assert.equal(decisions.length + dropped, 10_000);
  assert.ok(dropped > 0);
  leaving.abort();
  await events.return(undefined);
});

test("a decision with many descriptors is shortened", async () => {
  const { feed, send } = createFeed();
  const leaving = new AbortController();
  const events = decisionEvents(feed, decisionFilter({}), leaving.signal, 1);
  await events.next();
  const [one] = decision("ann").descriptors;
  send({ ...decision("ann"), descriptors: Array.from({ length: 100 }, () => one!) });
  const { decisions } = await nextBatch(events);
  assert.equal(decisions[0]!.descriptors.length, 10);
  leaving.abort();
  await events.return(undefined);
});
