/** The service under a storm, in its own process, so that its memory can be measured. Reports over IPC. */
import { readdirSync, readFileSync } from "node:fs";
import { GrpcServer } from "@tollway/grpc-wire";
import { Service } from "../src/service.ts";
import { loadSettings } from "../src/settings/load-settings.ts";

export interface Addresses {
  readonly grpc: string;
  readonly http: string;
}

/** The resources of the process. */
export interface Measure {
  /** Heap and buffers after a garbage collection. */
  readonly heldBytes: number;
  /** Peak resident memory (`VmHWM`). */
  readonly peakResidentBytes: number;
  readonly descriptors: number;
  /** Libuv's active resources by kind: sockets, timers. */
  readonly resources: Readonly<Record<string, number>>;
  /** grpc-wire's calls, connections and queues. */
  readonly counts: ReturnType<GrpcServer["counts"]>;
}

// The service does not expose its gRPC server, so this process records every server that listens.
const servers: GrpcServer[] = [];
const listen = GrpcServer.prototype.listen;
GrpcServer.prototype.listen = function (this: GrpcServer, ...where) {
  servers.push(this);
  return listen.apply(this, where);
};

const service = await Service.start(loadSettings(process.env), process.env);
await service.opened;

function measure(): Measure {
  const { heapUsed, external } = process.memoryUsage();
  const resources: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
  const status = readFileSync("/proc/self/status", "utf8");
  return {
    heldBytes: heapUsed + external,
    peakResidentBytes: Number(/VmHWM:\s+(\d+)/.exec(status)![1]) * 1024,
    descriptors: readdirSync("/proc/self/fd").length,
    resources,
    counts: servers[0]!.counts(),
  };
}

process.on("message", async () => {
  // Twice, with a turn of the event loop in between: the first one releases the memory of unused buffers.
  globalThis.gc!();
  await new Promise((resolve) => setImmediate(resolve));
  globalThis.gc!();
  process.send!(measure());
});
process.on("disconnect", () => process.exit());
process.send!({ grpc: service.addresses.grpc, http: service.addresses.http } satisfies Addresses);
