/** Which counters a full embedded store evicts. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { makeCount, makeRequest } from "../../../test/counters/conformance.ts";
import { EmbeddedStore } from "./embedded-store.ts";

const NOW = 1_800_000_000_000;
const LIMIT = 10;

function add(store: EmbeddedStore, stem: string, windowSize: number, hits = 1, limit = LIMIT): number {
  const windowStart = NOW / 1000 - ((NOW / 1000) % windowSize);
  const count = makeCount({ stem, hits, limit, windowSize, windowStart });
  store.count(makeRequest([count], { now: NOW }));
  return count.after;
}

const makeStore = (sizeInBytes: number) =>
  EmbeddedStore.create({ sizeInBytes, reclaimInterval: 0, clock: () => NOW, monotonic: () => 0 });

describe("a full store", () => {
  test("many keys of a day free no used-up counter of a minute or an hour", () => {
    const store = makeStore(1024 ** 2);
    for (let index = 0; index < 100; index++) {
      add(store, `minute${index}:`, 60, LIMIT);
      add(store, `hour${index}:`, 3600, LIMIT);
    }
    for (let index = 0; index < 60_000; index++) add(store, `day${index}:`, 86_400);
    assert.ok(store.statistics().evicted > 20_000);
    for (let index = 0; index < 100; index++) {
      assert.equal(add(store, `minute${index}:`, 60, 0), LIMIT, `minute ${index}`);
      assert.equal(add(store, `hour${index}:`, 3600, 0), LIMIT, `hour ${index}`);
    }
  });
});
