import assert from "node:assert/strict";
import { test } from "node:test";
import { heldBytes } from "../listeners/grpc-listener.ts";
import { createLogger } from "../observe/log.ts";
import { loadSettings } from "../settings/load.ts";
import { threadsFor } from "./grpc.ts";

test("where the system shares no listener, one thread serves and the log says why", (t) => {
  const lines: string[] = [];
  const log = createLogger({
    level: "info",
    writer: { dropped: 0, write: (line) => void lines.push(line), flush: async () => {} },
  });
  const { settings } = loadSettings({ BACKEND_TYPE: "embedded", WORKERS: "4" });
  const { platform } = process;
  t.after(() => Object.defineProperty(process, "platform", { value: platform }));
  Object.defineProperty(process, "platform", { value: "linux" });
  assert.equal(threadsFor(settings, log), 4);
  assert.deepEqual(lines, []);
  Object.defineProperty(process, "platform", { value: "darwin" });
  assert.equal(threadsFor(settings, log), 1);
  assert.match(
    lines.join(),
    /gRPC is served by one thread: darwin does not spread connections over listeners/,
  );
});

test("threads share what the process may hold for its callers", () => {
  for (const threads of [1, 2, 3, 8, 256]) {
    const { maxBufferedBytes, maxQueuedBytes } = heldBytes(threads);
    for (const share of [maxBufferedBytes, maxQueuedBytes]) {
      assert.ok(share * threads <= 256 * 1024 * 1024, `${threads} threads of ${share} bytes`);
      assert.ok(share * threads > 255 * 1024 * 1024, `${threads} threads of ${share} bytes`);
    }
  }
});
