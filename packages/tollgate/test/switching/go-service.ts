/** The Go service as a process, from a binary that the environment names. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ServerProcess, temporaryFolder, withFreePorts } from "../servers/process.ts";

/** The path of the Go service's binary; undefined to run the tests without it. */
export const goBinary: string | undefined = process.env.PEER_GO_SERVICE;

export interface GoService {
  /** The address of its gRPC port. */
  readonly grpc: string;
  stop(): Promise<void>;
}

export function startGoService(
  binary: string,
  rules: string,
  env: Readonly<Record<string, string>>,
): Promise<GoService> {
  return withFreePorts(3, async ([http, grpc, debug]) => {
    const folder = temporaryFolder("go-service");
    mkdirSync(join(folder, "config"));
    writeFileSync(join(folder, "config", "d.yaml"), rules);
    const variables = {
      ...env,
      RUNTIME_ROOT: folder,
      RUNTIME_SUBDIRECTORY: "",
      RUNTIME_WATCH_ROOT: "false",
      DISABLE_STATS: "true",
      HOST: "127.0.0.1",
      GRPC_HOST: "127.0.0.1",
      DEBUG_HOST: "127.0.0.1",
      PORT: String(http),
      GRPC_PORT: String(grpc),
      DEBUG_PORT: String(debug),
    };
    const assigned = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
    const server = await ServerProcess.start("env", [...assigned, binary], folder);
    // With memcached its health check never succeeds, so the test asks whether the port is open.
    await server.whenReady(async () => (await fetch(`http://127.0.0.1:${http}/healthcheck`)).status > 0);
    return { grpc: `127.0.0.1:${grpc}`, stop: () => server.stop() };
  });
}
