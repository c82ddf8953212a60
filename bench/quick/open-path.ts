/**
 * The whole path of a call in one process, from the bytes of a read to the bytes of a write, without the kernel. Over Redis,
 * only its connections are real sockets.
 */
import { GrpcServer } from "@tollway/grpc-wire";
import { FailurePolicy } from "../../packages/tollgate/src/counters/failure-policy.ts";
import { KvstoreStore } from "../../packages/tollgate/src/counters/kvstore/kvstore.ts";
import { serveDecisions } from "../../packages/tollgate/src/listeners/grpc-methods.ts";
import { noTracing } from "../../packages/tollgate/src/observe/tracing/tracing.ts";
import { kvstoreOptions } from "../../packages/tollgate/src/service/store-options.ts";
import { loadSettings } from "../../packages/tollgate/src/settings/load-settings.ts";
import { type Trace, traceparents } from "../gateway/envoy-headers.ts";
import { chooser, Messages, seededRandom, type Workload } from "../gateway/workload.ts";
import { decisions, topKeysObserver } from "../support/decision.ts";
import { CALL_BYTES, MemoryConnection } from "../support/memory-connection.ts";
import { METHOD } from "../support/tollgate.ts";

/** Calls in one read, as with 100 streams on a connection. */
export const CALLS = 50;

/** Calls in flight over Redis. */
const MOST_IN_FLIGHT = 400;

/** `observed`: also counts top keys. `redis`: over the server in `BENCH_REDIS`. */
export type Variant = "empty" | "tollgate" | "observed" | "redis";

/** A connection of a gateway to a server in this process. */
export class Path {
  readonly #address: () => number;
  readonly #tenant: () => number;
  readonly #messages = new Messages();
  readonly #traces: readonly Trace[];
  readonly #connection: MemoryConnection;
  #written = 0;
  #inFlight = 0;
  #wake: () => void = () => {};

  constructor(variant: Variant, { choice, addresses, tenants, isTraced }: Workload) {
    const random = seededRandom(11);
    this.#address = chooser(choice, addresses, random);
    this.#tenant = chooser(choice === "turn" ? "turn" : "zipf", tenants, random);
    this.#traces = isTraced ? traceparents(4096, random) : [];
    const server = serverOf(variant, (calls) => {
      this.#inFlight -= calls;
      this.#wake();
    });
    this.#connection = new MemoryConnection(server, METHOD, isTraced, ({ length }) => {
      this.#written += length;
    });
  }

  /** Bytes that the server has written. */
  get written(): number {
    return this.#written;
  }

  /** Makes the bytes of so many reads of {@link CALLS} calls. */
  reads(count: number): Buffer[] {
    return Array.from({ length: count }, () => this.#read());
  }

  /** Lets the server read the bytes and answer the calls. */
  answer(reads: readonly Buffer[]): void {
    for (const chunk of reads) this.#connection.emit("data", chunk);
  }

  /** The same over a store that answers later: one read in each turn of the event loop. */
  async answerLater(reads: readonly Buffer[]): Promise<void> {
    for (const chunk of reads) {
      await this.#until(MOST_IN_FLIGHT - CALLS);
      this.#inFlight += CALLS;
      this.#connection.emit("data", chunk);
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
      const trace = this.#traces[this.#connection.calls % this.#traces.length];
      const message = this.#connection.begin(out, at, this.#messages.length, trace);
      this.#messages.write(out, message, this.#address(), this.#tenant());
      at = message + this.#messages.length;
    }
    return Buffer.from(out.subarray(0, at));
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
