/** A wall clock that steps forward and back: NTP, or a virtual machine that resumes. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { makeCount, makeRequest } from "../../../test/counters/conformance.ts";
import { EmbeddedStore } from "./embedded-store.ts";

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const SIZES = [1, 60, 3600, 86_400, 604_800];

/** A store whose wall clock and monotonic clock the test sets. */
function makeStore(sizeInBytes = 1024 ** 2) {
  const time = { wall: NOW, monotonic: 0 };
  const store = EmbeddedStore.create({
    sizeInBytes,
    reclaimInterval: 1,
    clock: () => time.wall,
    monotonic: () => time.monotonic,
  });
  const add = (stem: string, windowSize: number, hits = 1) => {
    const seconds = Math.floor(time.wall / 1000);
    const windowStart = seconds - (seconds % windowSize);
    const count = makeCount({ stem, hits, limit: 10, windowSize, windowStart });
    store.count(makeRequest([count], { now: time.wall }));
    return count.after;
  };
  return { time, store, add };
}

/** Lets the store's timer run several times. */
async function rounds(): Promise<void> {
  const end = performance.now() + 20;
  while (performance.now() < end) await turn();
}

describe("a wall clock that jumps", () => {
  test("forward by days and back again: used-up counters are still used up", async (t) => {
    const { time, store, add } = makeStore();
    t.after(() => store.close());
    for (const size of SIZES) add(`used${size}:`, size, 10);
    time.wall += 3 * DAY + 400;
    time.monotonic += 400;
    await rounds();
    for (let index = 0; index < 2000; index++) add(`during${index}:`, 60);
    await rounds();
    time.wall -= 3 * DAY;
    for (const size of SIZES) assert.equal(add(`used${size}:`, size, 0), 10, `${size} s`);
  });
});
