import assert from "node:assert/strict";
import { test } from "node:test";
import type { AdminRecords } from "../counters/counter-admin.ts";
import { MemoryRecords } from "../counters/memory-records.ts";
import { createLogger } from "../observe/log.ts";
import { type AdjustmentRecord, recordsText } from "../overrides/record.ts";
import { OVERRIDES_POLL, OverridesFollower } from "./overrides-follower.ts";

const log = createLogger({ level: "panic" });

function record(id: string, expires?: number): AdjustmentRecord {
  const entries = [{ key: "k", value: "v" }];
  const ends = expires === undefined ? {} : { expires };
  return { kind: "override", id, domain: "d", entries, requestsPerUnit: 1, by: "a", at: 0, ...ends };
}

function idsOf(follower: OverridesFollower): readonly string[] {
  return (follower.current?.records ?? []).map(({ id }) => id);
}

test("reads the records at start, and again when their version has changed", async () => {
  const records = new MemoryRecords({ version: 3, overrides: recordsText([record("a")]), audit: [] });
  const seen: (readonly AdjustmentRecord[])[] = [];
  const onChange = async (given: readonly AdjustmentRecord[]) => void seen.push(given);
  const follower = new OverridesFollower({ records, poll: 0, log, onChange });
  await follower.first;
  assert.deepEqual(idsOf(follower), ["a"]);
  await follower.check();
  assert.equal(seen.length, 1);
  await records.replaceOverrides(3, recordsText([record("a"), record("b")]));
  await follower.check();
  assert.deepEqual(idsOf(follower), ["a", "b"]);
  follower.close();
});

test("without a message, a poll finds a change", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const records = new MemoryRecords({ version: 1, overrides: recordsText([record("a")]), audit: [] });
  const { promise: changed, resolve } = Promise.withResolvers<void>();
  const onChange = async (given: readonly AdjustmentRecord[]) => void (given.length === 2 && resolve());
  const follower = new OverridesFollower({ records, poll: OVERRIDES_POLL, log, onChange });
  await follower.first;
  await records.replaceOverrides(1, recordsText([record("a"), record("b")]));
  assert.deepEqual(idsOf(follower), ["a"]);
  // The promise is one second, with the time of the call.
  t.mock.timers.tick(500);
  await changed;
  assert.deepEqual(idsOf(follower), ["a", "b"]);
  follower.close();
});

test("an old answer of the store does not replace a later change by this process", async () => {
  const memory = new MemoryRecords({ version: 1, overrides: recordsText([record("old")]), audit: [] });
  let answer = () => {};
  let slow = false;
  const records = new Proxy(memory as AdminRecords, {
    get: (target, name) => {
      if (name === "readOverrides" && slow)
        return async () => {
          const read = await target.readOverrides();
          await new Promise<void>((resolve) => {
            answer = resolve;
          });
          return read;
        };
      const member = target[name as keyof AdminRecords];
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  const follower = new OverridesFollower({ records, poll: 0, log, onChange: async () => {} });
  await follower.first;
  await memory.replaceOverrides(1, recordsText([record("other")]));
  slow = true;
  const reading = follower.check();
  await new Promise(setImmediate);
  const own = [record("own")];
  const version = await memory.replaceOverrides(2, recordsText(own));
  await follower.use(version!, own);
  answer();
  await reading;
  assert.deepEqual(idsOf(follower), ["own"]);
  follower.close();
});

test("keeps the records while the store fails or holds something else, and follows a store that lost its data", async () => {
  let state: MemoryRecords | Error = new MemoryRecords({
    version: 7,
    overrides: recordsText([record("a")]),
    audit: [],
  });
  const records = new Proxy({} as AdminRecords, {
    get: (_, name) => {
      if (state instanceof Error) throw state;
      const member = state[name as keyof AdminRecords];
      return typeof member === "function" ? member.bind(state) : member;
    },
  });
  const follower = new OverridesFollower({ records, poll: 0, log, onChange: async () => {} });
  await follower.first;
  for (const text of ["{", '{"format":2,"records":[]}', '{"format":1,"records":[{"kind":"override"}]}']) {
    state = new Error("down");
    await follower.check();
    assert.deepEqual(idsOf(follower), ["a"]);
    state = new MemoryRecords({ version: 8, overrides: text, audit: [] });
    await follower.check();
    assert.deepEqual(idsOf(follower), ["a"], text);
  }
  state = new MemoryRecords();
  await follower.check();
  assert.deepEqual(idsOf(follower), []);
  follower.close();
});

test("a record that ends leaves no table behind", async () => {
  const now = Date.now();
  const records = new MemoryRecords({
    version: 1,
    overrides: recordsText([record("a", now + 50), record("b", now - 1)]),
    audit: [],
  });
  const follower = new OverridesFollower({ records, poll: 0, log, onChange: async () => {} });
  await follower.first;
  while (follower.current !== undefined) await new Promise((resolve) => setTimeout(resolve, 5));
  follower.close();
});
