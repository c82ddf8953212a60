import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadCores, startServer } from "./process.ts";
import { freePort } from "./tollgate.ts";

/** Starts a Redis without persistence on the cores of the load generator, because its CPU is not measured. */
export async function startRedis(): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "bench-redis-"));
  const port = await freePort();
  const server = await startServer({
    name: "redis-server",
    command: "redis-server",
    args: [
      "--port",
      String(port),
      "--bind",
      "127.0.0.1",
      "--save",
      "",
      "--appendonly",
      "no",
      "--dir",
      folder,
    ],
    cores: loadCores,
    ready: /Ready to accept connections/,
  });
  return {
    url: `127.0.0.1:${port}`,
    stop: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
