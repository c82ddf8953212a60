import assert from "node:assert/strict";
import { test } from "node:test";
import { OnDemand } from "./on-demand.ts";

test("answers with the value of the last refresh", async () => {
  let reads = 0;
  const values = new OnDemand<string, string>(async (key) => `${key} ${++reads}`);
  assert.equal(values.get("a"), undefined);
  await values.refresh();
  assert.equal(values.get("a"), "a 1");
  await values.refresh();
  assert.equal(values.get("a"), "a 2");
  await values.refresh();
  assert.equal(values.get("a"), "a 3");
});

test("a value that is no longer requested is neither read nor kept", async () => {
  const read: string[] = [];
  const values = new OnDemand<string, number>(async (key) => read.push(key));
  values.get("a");
  await values.refresh();
  values.get("b");
  await values.refresh();
  await values.refresh();
  assert.deepEqual(read, ["a", "b"]);
  assert.equal(values.get("a"), undefined);
});

test("a slow read delays no caller, and is not repeated", async () => {
  const { promise, resolve } = Promise.withResolvers<number>();
  let reads = 0;
  const values = new OnDemand<string, number>(() => {
    reads++;
    return promise;
  });
  values.get("a");
  const refreshed = values.refresh();
  values.get("a");
  await values.refresh();
  assert.equal(reads, 1);
  resolve(7);
  await refreshed;
  assert.equal(values.get("a"), 7);
});

test("at most 50 values are read, a failure is not a value, and forgotten values stay forgotten", async () => {
  let reads = 0;
  const values = new OnDemand<number, number>(async (key) => {
    reads++;
    if (key === 1) throw new Error("broken");
    return key;
  });
  for (let key = 0; key < 1000; key++) values.get(key);
  await values.refresh();
  assert.equal(reads, 50);
  assert.deepEqual([values.get(0), values.get(1)], [0, undefined]);
  const refreshed = values.refresh();
  values.forget();
  await refreshed;
  assert.equal(values.get(0), undefined);
});
