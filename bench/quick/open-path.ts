/**
 * The whole path of a call in one process, from the bytes of a read to the bytes of a write, without the kernel. Over Redis,
 * only its connections are real sockets.
 */
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { GrpcServer } from "@tollway/grpc-wire";
import { FailurePolicy } from "../../packages/tollgate/src/counters/failure-policy.ts";
import { KvstoreStore } from "../../packages/tollgate/src/counters/kvstore/kvstore.ts";
import { serveDecisions } from "../../packages/tollgate/src/listeners/grpc-methods.ts";
import { noTracing } from "../../packages/tollgate/src/observe/tracing/tracing.ts";
import { kvstoreOptions } from "../../packages/tollgate/src/service/store-options.ts";
import { loadSettings } from "../../packages/tollgate/src/settings/load-settings.ts";
import { EnvoyHeaders, type Trace, traceparents } from "../gateway/envoy-headers.ts";
import { chooser, Messages, seededRandom, type Workload } from "../gateway/workload.ts";
import { decisions, topKeysObserver } from "../support/decision.ts";
import { METHOD } from "../support/tollgate.ts";

/** Calls in one read, as with 100 streams on a connection. */
export const CALLS = 50;
/** Room for one call. */
const CALL_BYTES = 512;
const settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
/** The largest window: the client reads everything. */
const window = [0, 0, 4, 8, 0, 0, 0, 0, 0, 0x3f, 0xff, 0, 0];

/** Calls in flight over Redis. */
const MOST_IN_FLIGHT = 400;

/** `observed`: also counts top keys. `redis`: over the server in `BENCH_REDIS`. */
export type Variant = "empty" | "tollgate" | "observed" | "redis";

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

/** A connection of a gateway to a server in this process. */
export class Path {
  readonly #address: () => number;
  readonly #tenant: () => number;
  readonly #messages = new Messages();
  readonly #headers: EnvoyHeaders;
  readonly #traces: readonly Trace[];
  readonly #socket = new MemorySocket();
  #stream = 1;
  #inFlight = 0;
  #wake: () => void = () => {};

  constructor(variant: Variant, { choice, addresses, tenants, isTraced }: Workload) {
    const random = seededRandom(11);
    this.#address = chooser(choice, addresses, random);
    this.#tenant = chooser(choice === "turn" ? "turn" : "zipf", tenants, random);
    this.#headers = new EnvoyHeaders(METHOD, isTraced);
    this.#traces = isTraced ? traceparents(4096, random) : [];
    const server = serverOf(variant, (calls) => {
      this.#inFlight -= calls;
      this.#wake();
    });
    server.serve(this.#socket as unknown as Socket);
    const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    this.#socket.emit("data", Buffer.concat([preface, Buffer.from([...settings, ...window])]));
  }

  /** Bytes that the server has written. */
  get written(): number {
    return this.#socket.bytes;
  }

  /** Makes the bytes of so many reads of {@link CALLS} calls. */
  reads(count: number): Buffer[] {
    return Array.from({ length: count }, () => this.#read());
  }

  /** Lets the server read the bytes and answer the calls. */
  answer(reads: readonly Buffer[]): void {
    for (const chunk of reads) this.#socket.emit("data", chunk);
  }

  /** The same over a store that answers later: one read in each turn of the event loop. */
  async answerLater(reads: readonly Buffer[]): Promise<void> {
    for (const chunk of reads) {
      await this.#until(MOST_IN_FLIGHT - CALLS);
      this.#inFlight += CALLS;
      this.#socket.emit("data", chunk);
      await nextTurn();
    }
    await this.#until(0);
  }

  /** Waits until at most so many calls are in flight, without turns of the event loop in between. */
  async #until(inFlight: number): Promise<void> {
    while (this.#inFlight > inFlight)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }

  #read(): Buffer {
    const out = Buffer.allocUnsafe(CALLS * CALL_BYTES);
    let at = 0;
    for (let call = 0; call < CALLS; call++) {
      const data = this.#headers.write(out, at + 9, this.#traces[(this.#stream >>> 1) % this.#traces.length]);
      this.#head(out, at, data - at - 9, 1, 4);
      this.#head(out, data, this.#messages.length, 0, 1);
      this.#messages.write(out, data + 9, this.#address(), this.#tenant());
      at = data + 9 + this.#messages.length;
      this.#stream += 2;
    }
    return Buffer.from(out.subarray(0, at));
  }

  #head(out: Buffer, at: number, length: number, type: number, flags: number): void {
    out.writeUIntBE(length, at, 3);
    out[at + 3] = type;
    out[at + 4] = flags;
    out.writeUInt32BE(this.#stream, at + 5);
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function serverOf(variant: Variant, ended: (calls: number) => void): GrpcServer {
  if (variant === "empty")
    return new GrpcServer().unaryInPlace(METHOD, (call) => {
      call.reserve(0);
      call.commit(0);
    });
  const options = variant === "observed" ? { observer: topKeysObserver() } : {};
  const { handler, statistics } = decisions(options, variant === "redis" ? overRedis() : undefined);
  const timer = statistics.timer("bench");
  const server = new GrpcServer({
    observer: {
      callFinished: (_path, status, milliseconds, calls) => {
        if (status !== 0) throw new Error(`a call ended with status ${status}`);
        timer.record(milliseconds, calls);
        ended(calls);
      },
    },
    onHandlerError: (error) => {
      throw error;
    },
  });
  serveDecisions(server, handler, noTracing);
  return server;
}

/** As the service opens it. */
function overRedis(): FailurePolicy {
  const { settings } = loadSettings({ KVSTORE_URL: process.env.BENCH_REDIS });
  return new FailurePolicy(new KvstoreStore(kvstoreOptions(settings.kvstore!.main, settings.store)));
}
