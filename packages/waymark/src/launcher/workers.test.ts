import assert from "node:assert/strict";
import cluster, { type Worker } from "node:cluster";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { serveWithWorkers } from "./workers.ts";

/** The parts of a worker that the pool uses. A signal ends it. */
class FakeWorker extends EventEmitter {
  readonly process = { pid: 1, kill: () => this.end() };
  end(): void {
    cluster.emit("exit", this as unknown as Worker, 0, null);
  }
}

test("a stop cancels every pending restart of a worker", async (t) => {
  const added = new Map(
    (["SIGTERM", "SIGINT"] as const).map((signal) => [signal, new Set(process.listeners(signal))] as const),
  );
  t.after(() => {
    cluster.removeAllListeners("exit");
    for (const [signal, before] of added)
      for (const listener of process.listeners(signal))
        if (!before.has(listener)) process.removeListener(signal, listener);
  });
  t.mock.method(console, "error", () => undefined);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const forked: FakeWorker[] = [];
  t.mock.method(cluster, "fork", () => {
    const worker = new FakeWorker();
    forked.push(worker);
    return worker as unknown as Worker;
  });
  const status = serveWithWorkers(3, () => undefined);
  assert.equal(forked.length, 3);
  // Two workers end early, and each has its own restart timer.
  forked[0]!.end();
  forked[1]!.end();
  t.mock.timers.tick(1_000);
  assert.equal(forked.length, 5, "both are started again");
  forked[3]!.end();
  forked[4]!.end();
  forked[2]!.emit("message", { failed: "cannot start", status: 3 });
  assert.equal(await status, 3);
  t.mock.timers.tick(10_000);
  assert.equal(forked.length, 5, "none is started after the stop");
});
