import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { placeOf } from "../../test/counters/conformance.ts";
import { algorithms } from "../counters/algorithms/algorithms.ts";
import {
  type ReservationRequest,
  type ReservationStore,
  type ReservedGroup,
  Step,
} from "../counters/reservations.ts";
import { Outcome, Refuses, StoreError } from "../counters/store.ts";
import { createStatistics } from "../observe/registry.ts";
import { OpenHolds } from "./open-holds.ts";

const MINUTE = 60_000;

function groupOf(stem: string, name: "fixed_window" | "token_bucket" = "token_bucket"): ReservedGroup {
  const limit = {
    stem,
    algorithm: algorithms[name],
    limit: 10,
    burst: 10,
    windowStart: 0,
    windowSize: 60,
    homeStart: 0,
    accepted: true,
    used: 0,
    remaining: 0,
    reset: 0,
    held: 5,
  };
  const results = { outcome: Outcome.COUNTED, accepted: true, released: 0, expired: 0, restored: 0 };
  return { limits: [limit], lead: 0, hits: 5, refuses: Refuses.ALWAYS, ...results };
}

/** A store whose every look finds what `answer` says. */
function setUp(t: TestContext, answer: (group: ReservedGroup) => void) {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const looks: { stem: string; at: number }[] = [];
  const store = {
    kind: "test",
    async settle({ step, groups: [group], token, now }: ReservationRequest) {
      assert.deepEqual([step, token], [Step.CANCEL, undefined]);
      looks.push({ stem: group!.limits[0]!.stem, at: now });
      answer(group!);
    },
  } as unknown as ReservationStore;
  const registry = createStatistics();
  const statistics = registry.rule({ domain: "d", levels: ["k"] }, false);
  const holds = new OpenHolds(store, registry);
  return {
    looks,
    holds,
    statistics,
    expired: () => registry.reservationsOf(statistics).expired,
    /** Lets time pass second by second, as long as looks take no time. */
    async pass(milliseconds: number) {
      for (let passed = 0; passed < milliseconds; passed += 1000) {
        t.mock.timers.tick(1000);
        for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
      }
    },
  };
}

function found(group: ReservedGroup, expired: number, held: number): void {
  group.expired = expired;
  group.limits[0]!.held = held;
}

test("looks at a counter once, after its last hold has ended, and counts the ended holds", async (t) => {
  const { holds, statistics, looks, pass, expired } = setUp(t, (group) => found(group, 10, 0));
  holds.add(groupOf("a:"), statistics, 5000);
  holds.add(groupOf("a:"), statistics, 9000);
  holds.add(groupOf("a:"), statistics, 7000);
  await pass(8000);
  assert.deepEqual(looks, []);
  await pass(60_000);
  assert.deepEqual(looks, [{ stem: "a:", at: 9000 }]);
  assert.equal(expired(), 10);
});

test("a hold of a window ends with the window", async (t) => {
  const { holds, statistics, looks, pass } = setUp(t, (group) => found(group, 5, 0));
  holds.add(groupOf("a:", "fixed_window"), statistics, 10 * MINUTE);
  await pass(2 * MINUTE);
  assert.deepEqual(looks, [{ stem: "a:", at: MINUTE }]);
});

test("looks again while the store fails", async (t) => {
  let failures = 3;
  const { holds, statistics, looks, pass, expired } = setUp(t, (group) => {
    if (failures-- > 0) throw new StoreError("STORE_UNAVAILABLE", "cut");
    found(group, 5, 0);
  });
  holds.add(groupOf("a:"), statistics, 1000);
  await pass(10_000);
  assert.equal(looks.length, 4);
  assert.equal(expired(), 5);
});

test("a round ends when looks fail, and the rounds get rarer", async (t) => {
  let isCut = true;
  const { holds, statistics, looks, pass, expired } = setUp(t, (group) => {
    if (isCut) throw new StoreError("STORE_UNAVAILABLE", "cut");
    found(group, 5, 0);
  });
  for (let index = 0; index < 600; index++) holds.add(groupOf(`${index}:`), statistics, 1000);
  await pass(MINUTE);
  assert.deepEqual(
    looks.map(({ at }) => at / 1000),
    [1, 2, 4, 8, 16, 32].flatMap((second) => Array.from({ length: 16 }, () => second)),
  );
  isCut = false;
  await pass(MINUTE);
  assert.equal(expired(), 600 * 5);
});

test("the counters of a server that works are looked at while another server fails", async (t) => {
  const { holds, statistics, pass, expired } = setUp(t, (group) => {
    if (Number.parseInt(group.limits[0]!.stem, 10) < 10) throw new StoreError("STORE_UNAVAILABLE", "cut");
    found(group, 5, 0);
  });
  for (let index = 0; index < 600; index++) holds.add(groupOf(`${index}:`), statistics, 1000);
  await pass(2 * MINUTE);
  assert.equal(expired(), 590 * 5);
});

test("looks again after a minute while holds of other processes are open", async (t) => {
  let held = 5;
  const { holds, statistics, looks, pass } = setUp(t, (group) => found(group, 0, held));
  holds.add(groupOf("a:"), statistics, 1000);
  await pass(MINUTE);
  assert.equal(looks.length, 1);
  held = 0;
  await pass(5 * MINUTE);
  assert.equal(looks.length, 2);
});

test("a commit that leaves no hold needs no look", async (t) => {
  const { holds, statistics, looks, pass } = setUp(t, (group) => found(group, 0, 0));
  for (const [stem, left] of [
    ["a:", 0],
    ["b:", 5],
  ] as const) {
    holds.add(groupOf(stem), statistics, 1000);
    const committed = groupOf(stem);
    found(committed, 0, left);
    holds.committed(committed);
  }
  await pass(5000);
  assert.deepEqual(looks, [{ stem: "b:", at: 1000 }]);
});

test("counters of the embedded store are known by their digests", async (t) => {
  const { holds, statistics, looks, pass } = setUp(t, (group) => found(group, 0, 0));
  for (const [stem, ...digest] of [
    ["a:", 1, 7],
    ["b:", 2, 7],
    ["c:", 3, 8],
    ["again, in another window", 2, 7],
    ["again", 3, 8],
    ["a commit", 1, 7],
  ] as const) {
    const { limits, ...group } = groupOf(stem);
    const limit = { ...limits[0]!, windowStart: stem.length, digest: Int32Array.from(digest) };
    holds.add({ ...group, limits: [limit] }, statistics, 1000);
    limit.held = 0;
    holds.committed({ ...group, limits: [limit] });
  }
  await pass(5000);
  assert.deepEqual(
    looks.map(({ stem }) => stem),
    ["a:", "b:", "c:"],
  );
});

test("a counter of another store is known by its key and its window, in place and as a text", async (t) => {
  const { holds, statistics, looks, pass } = setUp(t, (group) => found(group, 0, 0));
  const stems = ["a:", "b:", "a:\u00e9", "a:\u2713", `a:${"x".repeat(600)}`, `a:${"x".repeat(601)}`];
  for (let turn = 0; turn < 2; turn++)
    for (const stem of stems) {
      holds.add(groupOf(stem), statistics, 1000);
      if (!/^[ -~]*$/.test(stem)) continue;
      const { limits, ...group } = groupOf("");
      const bytes = Buffer.from(`-${stem}-`, "latin1");
      const place = placeOf(bytes, 1, bytes.length - 1);
      holds.add({ ...group, limits: [{ ...limits[0]!, place }] }, statistics, 1000);
    }
  const { limits, ...group } = groupOf("a:");
  holds.add({ ...group, limits: [{ ...limits[0]!, windowStart: 60 }] }, statistics, 1000);
  await pass(5000);
  assert.deepEqual(
    looks.map(({ stem }) => stem),
    [...stems, "a:"],
  );
});

test("counters with equal hashes are known, too", async (t) => {
  const { holds, statistics, looks, pass } = setUp(t, (group) => found(group, 0, 0));
  // The hash has the whole seconds of the window's start.
  const starts = Array.from({ length: 40 }, (_, index) => index / 40);
  const groups = starts.map((windowStart) => {
    const { limits, ...group } = groupOf("a:");
    return { ...group, limits: [{ ...limits[0]!, windowStart }] };
  });
  for (const end of [1000, 2000]) for (const group of groups) holds.add(group, statistics, end);
  for (const group of groups.slice(30)) {
    found(group, 0, 0);
    holds.committed(group);
  }
  await pass(5000);
  assert.deepEqual(
    looks.map(({ at }) => at),
    Array.from({ length: 30 }, () => 2000),
  );
});

test("the number of counters is bounded, and so are the looks of a round", async (t) => {
  const { holds, statistics, looks, pass } = setUp(t, (group) => found(group, 0, 0));
  for (let index = 0; index < 10_100; index++) holds.add(groupOf(`${index}:`), statistics, 1000);
  await pass(1000);
  assert.equal(looks.length, 512);
  assert.equal(looks[0]!.stem, "100:", "the first ones are forgotten");
  await pass(30_000);
  assert.equal(looks.length, 10_000);
});

test("the keys of all limits of a counter have the same bound", async (t) => {
  const { holds, statistics, looks, pass } = setUp(t, (group) => found(group, 0, 0));
  for (let index = 0; index < 10; index++) {
    const { limits, ...group } = groupOf(`${index}:`);
    const [limit] = limits;
    holds.add({ ...group, limits: [limit!, { ...limit!, stem: "x".repeat(1024 * 1024) }] }, statistics, 1000);
  }
  await pass(5000);
  assert.equal(looks.length, 7);
});

test("the characters of their keys are bounded", async (t) => {
  const { holds, statistics, looks, pass } = setUp(t, (group) => found(group, 0, 0));
  for (let index = 0; index < 20; index++)
    holds.add(groupOf(`${index}${"x".repeat(512 * 1024)}`), statistics, 1000);
  await pass(5000);
  assert.equal(looks.length, 15);
});
