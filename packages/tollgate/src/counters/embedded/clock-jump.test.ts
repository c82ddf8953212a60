/** Tests with a wall clock that steps forward and back, as with NTP or a resumed virtual machine. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { makeCount, makeRequest } from "../../../test/counters/conformance.ts";
import { EmbeddedStore, type SavedStoreOptions } from "./embedded-store.ts";

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const SIZES = [1, 60, 3600, 86_400, 604_800];
const LIMIT = 10;

/** Clocks under the control of a test. The store reads the wall clock once in each round. */
class Clocks {
  wall = NOW;
  monotonic = 1_000_000;
  #rounds = 0;

  options(sizeInBytes = 1024 ** 2): SavedStoreOptions {
    const clock = () => {
      this.#rounds += 1;
      return this.wall;
    };
    return { sizeInBytes, reclaimInterval: 1, clock, monotonic: () => this.monotonic };
  }

  /** Advances real time, and steps the wall clock in addition. */
  async pass(milliseconds: number, step = 0): Promise<void> {
    this.monotonic += milliseconds;
    this.wall += milliseconds + step;
    const rounds = this.#rounds + 20;
    while (this.#rounds < rounds) await turn();
  }

  add(store: EmbeddedStore, stem: string, windowSize: number, hits = 1): number {
    const seconds = Math.floor(this.wall / 1000);
    const windowStart = seconds - (seconds % windowSize);
    const count = makeCount({ stem, hits, limit: LIMIT, windowSize, windowStart });
    store.count(makeRequest([count], { now: this.wall }));
    return count.after;
  }
}

describe("a wall clock that jumps", () => {
  for (const threads of [1, 2])
    test(`keeps used-up counters after a step of days forward and back, with ${threads} view(s)`, async (t) => {
      const clocks = new Clocks();
      const store = EmbeddedStore.create(clocks.options());
      t.after(() => store.close());
      const views = [store, EmbeddedStore.attach(store.share(), () => clocks.monotonic)].slice(0, threads);
      for (const size of SIZES) clocks.add(store, `used${size}:`, size, LIMIT);
      await clocks.pass(200, 3 * DAY);
      for (let index = 0; index < 5000; index++) clocks.add(views[index % threads]!, `during${index}:`, 60);
      await clocks.pass(200, 0);
      assert.equal(clocks.add(store, "used60:", 60, 0), 0, "windows follow the wall clock");
      await clocks.pass(200, -3 * DAY);
      for (const size of SIZES)
        assert.equal(clocks.add(views.at(-1)!, `used${size}:`, size, 0), LIMIT, `${size} s`);
      assert.equal(store.statistics().expired, 0);
    });

  test("keeps used-up counters after a step back and forward", async (t) => {
    const clocks = new Clocks();
    const store = EmbeddedStore.create(clocks.options());
    t.after(() => store.close());
    for (const size of SIZES) clocks.add(store, `used${size}:`, size, LIMIT);
    await clocks.pass(200, -3 * DAY);
    for (let index = 0; index < 5000; index++) clocks.add(store, `during${index}:`, 60);
    await clocks.pass(200, 3 * DAY);
    for (const size of SIZES) assert.equal(clocks.add(store, `used${size}:`, size, 0), LIMIT, `${size} s`);
  });

  test("applies a permanent step forward after one to two hours, and reclaims memory", async (t) => {
    const clocks = new Clocks();
    const store = EmbeddedStore.create(clocks.options());
    t.after(() => store.close());
    clocks.add(store, "week:", 604_800, LIMIT);
    await clocks.pass(1000, 8 * DAY);
    for (let minutes = 0; minutes < 59; minutes++) await clocks.pass(60_000);
    assert.equal(store.statistics().expired, 0);
    for (let minutes = 0; minutes < 62; minutes++) await clocks.pass(60_000);
    assert.equal(store.statistics().expired, 1);
  });

  test("evicts only ended counters of a full store while the wall clock is ahead", async (t) => {
    const clocks = new Clocks();
    const store = EmbeddedStore.create(clocks.options(64 * 1024));
    t.after(() => store.close());
    for (let index = 0; index < 600; index++) clocks.add(store, `before${index}:`, 60, LIMIT);
    await clocks.pass(1000, 3 * DAY);
    assert.equal(store.statistics().expired, 0);
    for (let index = 0; index < 1200; index++) clocks.add(store, `after${index}:`, 60);
    const { expired, evicted } = store.statistics();
    assert.ok(expired > 100);
    assert.equal(evicted, 0);
    for (let index = 0; index < 1200; index++) assert.equal(clocks.add(store, `after${index}:`, 60, 0), 1);
  });

  test("reclaims at once when real time passes", async (t) => {
    const clocks = new Clocks();
    const store = EmbeddedStore.create(clocks.options());
    t.after(() => store.close());
    for (let index = 0; index < 100; index++) clocks.add(store, `k${index}:`, 60);
    await clocks.pass(62_000);
    assert.equal(store.statistics().expired, 100);
  });

  test("keeps used-up counters over a restart while the wall clock is ahead", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-clock-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const clocks = new Clocks();
    const open = () => EmbeddedStore.open({ ...clocks.options(), snapshotPath: join(folder, "counters") });
    const before = await open();
    for (const size of SIZES) clocks.add(before, `used${size}:`, size, LIMIT);
    await before.close();
    // The machine boots with a wrong wall clock and a new monotonic clock.
    clocks.monotonic = 10;
    clocks.wall += 3 * DAY;
    const between = await open();
    await clocks.pass(100);
    await between.close();
    const after = await open();
    t.after(() => after.close());
    await clocks.pass(100, -3 * DAY);
    for (const size of SIZES) assert.equal(clocks.add(after, `used${size}:`, size, 0), LIMIT, `${size} s`);
  });
});
