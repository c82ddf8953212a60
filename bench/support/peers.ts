import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type BenchServer, startServer } from "./process.ts";
import { freePort, METHOD, rulesFolder, startTollgate } from "./tollgate.ts";

/** A service under load and the URL of its method. */
export interface Peer {
  readonly server: BenchServer;
  readonly url: string;
}
export type StartPeer = () => Promise<Peer>;

/** The path of the Go service's binary; undefined to leave that service out. */
export const goBinary: string | undefined = process.env.PEER_GO_SERVICE;

/** The path of Limitador's binary, `limitador-server`; undefined to leave it out. */
export const limitadorBinary: string | undefined = process.env.PEER_LIMITADOR;

/** Starts Tollgate, with embedded counters by default. */
export function tollgate(env: Record<string, string> = {}, cores?: string, rules?: string): StartPeer {
  return async () => {
    const server = await startTollgate(env, cores, rules);
    return { server, url: server.url };
  };
}

/** Starts a server script of a benchmark as a process. The script listens on `BENCH_PORT` and prints `ready`. */
export function nodePeer(file: string, env: Record<string, string> = {}): StartPeer {
  return async () => {
    const port = await freePort();
    const server = await startServer({
      name: file,
      command: process.execPath,
      args: [join(import.meta.dirname, "..", file)],
      env: { BENCH_PORT: String(port), ...env },
      ready: /ready/,
    });
    return { server, url: `http://127.0.0.1:${port}${METHOD}` };
  };
}

/** `@grpc/grpc-js` with an empty handler. */
export const emptyGrpcJs: StartPeer = nodePeer("peers/servers/empty.ts");

/** Starts the Go service with a Redis on one core. */
export function goService(binary: string, redis: string, env: Record<string, string> = {}): StartPeer {
  return async () => {
    const folder = rulesFolder();
    const [port, http, debug] = [await freePort(), await freePort(), await freePort()];
    const server = await startServer({
      name: "Go service",
      command: binary,
      args: [],
      env: {
        GOMAXPROCS: "1",
        RUNTIME_ROOT: folder.root,
        RUNTIME_SUBDIRECTORY: "bench",
        RUNTIME_WATCH_ROOT: "false",
        USE_STATSD: "false",
        DISABLE_STATS: "true",
        LOG_LEVEL: "warn",
        REDIS_SOCKET_TYPE: "tcp",
        REDIS_URL: redis,
        GRPC_PORT: String(port),
        PORT: String(http),
        DEBUG_PORT: String(debug),
        ...env,
      },
      ready: /Listening for HTTP/,
    });
    const stop = async (): Promise<void> => {
      await server.stop();
      folder.remove();
    };
    return { server: { ...server, stop }, url: `http://127.0.0.1:${port}${METHOD}` };
  };
}

/** The limits of `decision.ts` that the calls of a gateway meet, in Limitador's form. */
const limitadorLimits = `
- namespace: bench
  max_value: 1000000000
  seconds: 60
  conditions: ["descriptors[0].path.startsWith('/api/')"]
  variables: ["descriptors[0].path", "descriptors[0].remote_address"]
- namespace: bench
  max_value: 1000000000
  seconds: 3600
  conditions: []
  variables: ["descriptors[1].tenant"]
`;

/**
 * Starts Limitador.
 * @param store `memory`, `redis URL` or `redis_cached URL`, as on its command line
 */
export function limitador(binary: string, store: readonly string[]): StartPeer {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), "bench-limitador-"));
    const file = join(folder, "limits.yaml");
    writeFileSync(file, limitadorLimits);
    const [port, http] = [await freePort(), await freePort()];
    const addresses = [
      "--rls-ip=127.0.0.1",
      `--rls-port=${port}`,
      "--http-ip=127.0.0.1",
      `--http-port=${http}`,
    ];
    const server = await startServer({
      name: "Limitador",
      command: binary,
      args: [...addresses, file, ...store],
      env: { RUST_LOG: "error" },
      ready: /Limitador/,
    });
    // Limitador does not say when it listens.
    await untilOpen(port);
    const stop = async (): Promise<void> => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    };
    return { server: { ...server, stop }, url: `http://127.0.0.1:${port}${METHOD}` };
  };
}

/** Waits at most ten seconds for a server that accepts connections. */
async function untilOpen(port: number): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await new Promise((resolve) => {
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await delay(50);
  }
  throw new Error(`nothing listens on port ${port}`);
}

/** Starts a service, runs `measure` and stops the service. */
export async function onPeer<T>(start: StartPeer, measure: (peer: Peer) => T | Promise<T>): Promise<T> {
  const peer = await start();
  try {
    return await measure(peer);
  } finally {
    await peer.server.stop();
  }
}
