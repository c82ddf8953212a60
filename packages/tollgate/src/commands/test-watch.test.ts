import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { watchTests } from "./test-watch.ts";

test("a change while the tests run causes a further run", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-watch-"));
  const own = watch(folder);
  const ending = new AbortController();
  const change = () => writeFileSync(join(folder, "d.yaml"), "domain: d");
  let runs = 0;
  async function run() {
    runs++;
    if (runs === 2) {
      const seen = once(own, "change");
      change();
      await seen;
      // Time enough for the watch under test to see it, too, while this run lasts.
      await delay(150);
    }
    if (runs === 3) ending.abort();
    return { status: runs, directories: new Set([folder]) };
  }
  const stderr = { write: (text: string) => runs === 1 && /Watching/.test(text) && change() };
  try {
    const io = { stdout: { write: () => undefined }, stderr, env: {}, cwd: folder };
    assert.equal(await watchTests(run, io, ending.signal), 3);
  } finally {
    own.close();
    rmSync(folder, { recursive: true });
  }
});
