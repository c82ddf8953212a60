import assert from "node:assert/strict";
import { test } from "node:test";
import { createLogger } from "../log.ts";
import { createStatistics } from "../registry.ts";
import { Flusher } from "./flusher.ts";
import type { Sink } from "./sink.ts";

const log = createLogger({ writer: { write: () => {}, flush: async () => {}, dropped: 0 } });

test("a wait keeps its time limit if the wall clock steps back", async (t) => {
  const real = Date.now;
  const waits: number[] = [];
  const sink: Sink = {
    name: "unavailable",
    // Available after two waits, so that the test does not depend on the machine's speed.
    get ready() {
      return waits.length === 2;
    },
    counter() {},
    gauge() {},
    timer() {},
    commit() {},
    room: async (milliseconds) => {
      waits.push(milliseconds);
      t.mock.method(Date, "now", () => real() - 3600e3);
    },
    close: async () => {},
  };
  await new Flusher(createStatistics(), sink, { interval: 1000, log }).whenReady(60_000);
  assert.equal(waits.length, 2);
  assert.ok(Math.max(...waits) <= 60_000, `a wait of ${Math.max(...waits)} ms`);
});
