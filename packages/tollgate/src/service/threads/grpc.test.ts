import assert from "node:assert/strict";
import { test } from "node:test";
import { heldBytes } from "../../listeners/grpc-listener.ts";
import { createLogger } from "../../observe/log.ts";
import { loadSettings } from "../../settings/load-settings.ts";
import { threadsFor } from "./grpc.ts";

test("one thread serves gRPC if the system cannot share a listener, and the log has the reason", (t) => {
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
    /gRPC is served by one thread: darwin does not distribute connections over listeners/,
  );
});

test("the threads divide the process's memory limits among them", () => {
  for (const threads of [1, 2, 3, 8, 256]) {
    const { maxBufferedBytes, maxQueuedBytes } = heldBytes(threads);
    for (const share of [maxBufferedBytes, maxQueuedBytes]) {
      assert.ok(share * threads <= 256 * 1024 * 1024, `${threads} threads of ${share} bytes`);
      assert.ok(share * threads > 255 * 1024 * 1024, `${threads} threads of ${share} bytes`);
    }
  }
});
