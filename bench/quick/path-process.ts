/**
 * Measures the whole path of a call in one process, from the bytes of a read to the bytes of a write, without the kernel.
 * Reads the name of a variant and a workload as JSON from its arguments, and prints nanoseconds of CPU and bytes of heap
 * for each call.
 */
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { GrpcServer } from "@tollway/grpc-wire";
import { serveDecisions } from "../../packages/tollgate/src/listeners/grpc-methods.ts";
import { noTracing } from "../../packages/tollgate/src/observe/tracing/tracing.ts";
import { EnvoyHeaders, traceparents } from "../gateway/envoy-headers.ts";
import { chooser, Messages, seededRandom, type Workload } from "../gateway/workload.ts";
import { decisions } from "../support/decision.ts";
import { median } from "../support/figures.ts";
import { METHOD } from "../support/tollgate.ts";

/** Calls in one read, as with 100 streams on a connection. */
const CALLS = 50;
/** Reads of one round. */
const READS = 400;
const ROUNDS = 15;

/** A socket without a kernel: it passes bytes to the server, and drops what the server writes. */
class MemorySocket extends EventEmitter {
  readonly writable = true;
  readonly writableLength = 0;
  readonly remoteAddress = "127.0.0.1";
  bytes = 0;
  write(chunk: Uint8Array): boolean {
    this.bytes += chunk.length;
    return true;
  }
  setNoDelay(): void {}
  pause(): void {}
  resume(): void {}
  end(): void {}
  destroy(): void {}
}

const [variant, workloadText] = process.argv.slice(2);
const workload = JSON.parse(workloadText!) as Workload;
const random = seededRandom(11);
const address = chooser(workload.choice, workload.addresses, random);
const tenant = chooser(workload.choice === "turn" ? "turn" : "zipf", workload.tenants, random);
const messages = new Messages();
const headers = new EnvoyHeaders(METHOD, workload.isTraced);
const traces = workload.isTraced ? traceparents(4096, random) : [];
let stream = 1;

function read(calls: number): Buffer {
  const out = Buffer.allocUnsafe(calls * 512);
  let at = 0;
  for (let call = 0; call < calls; call++) {
    const data = headers.write(out, at + 9, traces[(stream >>> 1) % traces.length]);
    head(out, at, data - at - 9, 1, 4);
    head(out, data, messages.length, 0, 1);
    messages.write(out, data + 9, address(), tenant());
    at = data + 9 + messages.length;
    stream += 2;
  }
  return Buffer.from(out.subarray(0, at));
}

function head(out: Buffer, at: number, length: number, type: number, flags: number): void {
  out.writeUIntBE(length, at, 3);
  out[at + 3] = type;
  out[at + 4] = flags;
  out.writeUInt32BE(stream, at + 5);
}

const { handler, store, statistics } = decisions();
const timer = statistics.timer("bench");
const observer = {
  callFinished: (_path: string, _status: number, milliseconds: number, calls: number) =>
    timer.record(milliseconds, calls),
};
const server = new GrpcServer(variant === "empty" ? {} : { observer });
if (variant === "empty")
  server.unaryInPlace(METHOD, (call) => {
    call.reserve(0);
    call.commit(0);
  });
else serveDecisions(server, handler, noTracing);
const socket = new MemorySocket();
server.serve(socket as unknown as Socket);
const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
/** The largest window: the client reads everything. */
const window = Buffer.from([0, 0, 4, 8, 0, 0, 0, 0, 0, 0x3f, 0xff, 0, 0]);
socket.emit("data", Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), settings, window]));

const nanoseconds: number[] = [];
let bytes = 0;
/** So many calls that each live key occurs, and at least enough for the compiler. */
const warmUp = Math.max(200_000, workload.choice === "turn" ? workload.addresses : 0);
for (let call = 0; call < warmUp; call += CALLS) socket.emit("data", read(CALLS));
for (let round = 0; round < ROUNDS; round++) {
  const reads = Array.from({ length: READS }, () => read(CALLS));
  globalThis.gc?.();
  const heap = process.memoryUsage().heapUsed;
  const start = process.threadCpuUsage();
  for (const chunk of reads) socket.emit("data", chunk);
  const { user, system } = process.threadCpuUsage(start);
  nanoseconds.push(((user + system) * 1000) / (READS * CALLS));
  bytes = (process.memoryUsage().heapUsed - heap) / (READS * CALLS);
}
if (socket.bytes < ROUNDS * READS * CALLS * 20) throw new Error("the server did not answer");
await store.close();
console.log(JSON.stringify({ nanoseconds: median(nanoseconds), least: Math.min(...nanoseconds), bytes }));
process.exitCode = 0;
