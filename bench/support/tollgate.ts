import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rules } from "./decision.ts";
import type { MemoryGroup } from "./memory-group.ts";
import { type BenchServer, startServer } from "./process.ts";

export const METHOD = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";

export interface BenchTollgate extends BenchServer {
  /** The URL of the method. */
  readonly url: string;
  readonly http: string;
  readonly debug: string;
}

/** Finds a free port. Use it at once, because another process could take it. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

/** Creates a folder with rules in `bench/config`. The Go service and Tollgate use the same layout. */
export function rulesFolder(text = rules): { root: string; remove(): void } {
  const root = mkdtempSync(join(tmpdir(), "bench-rules-"));
  mkdirSync(join(root, "bench", "config"), { recursive: true });
  writeFileSync(join(root, "bench", "config", "bench.yaml"), text);
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/** The launcher of the TypeScript sources. */
export const SOURCES: string = join(import.meta.dirname, "../../packages/tollgate/bin/tollgate.mjs");

/** Starts Tollgate, by default from the sources and with one thread on one core. */
export async function startTollgate(
  env: Record<string, string> = {},
  cores?: string,
  text = rules,
  launcher = SOURCES,
  group?: MemoryGroup,
): Promise<BenchTollgate> {
  const folder = rulesFolder(text);
  const [grpc, http, debug] = [await freePort(), await freePort(), await freePort()];
  const server = await startServer({
    name: "tollgate",
    command: process.execPath,
    args: [launcher],
    env: {
      RUNTIME_ROOT: folder.root,
      RUNTIME_SUBDIRECTORY: "bench",
      DISABLE_STATS: "true",
      WORKERS: "1",
      HOST: "127.0.0.1",
      GRPC_HOST: "127.0.0.1",
      DEBUG_HOST: "127.0.0.1",
      GRPC_PORT: String(grpc),
      PORT: String(http),
      DEBUG_PORT: String(debug),
      ...(env.KVSTORE_URL === undefined && { BACKEND_TYPE: "embedded" }),
      ...env,
    },
    ...(cores !== undefined && { cores }),
    ...(group !== undefined && { group }),
    ready: /Listening for HTTP/,
  });
  return {
    ...server,
    url: `http://127.0.0.1:${grpc}${METHOD}`,
    http: `http://127.0.0.1:${http}`,
    debug: `http://127.0.0.1:${debug}`,
    stop: async () => {
      await server.stop();
      folder.remove();
    },
  };
}
