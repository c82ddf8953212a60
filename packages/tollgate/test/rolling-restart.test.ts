import assert from "node:assert/strict";
import { test } from "node:test";
import { fromBinary } from "@bufbuild/protobuf";
import type { ClientReadableStream } from "@grpc/grpc-js";
import { scaled } from "../../../tools/time-scale.ts";
import { healthResponseSchema } from "../../grpc-wire/conformance/schema.ts";
import { descriptor, GrpcCaller, request } from "./grpc-caller.ts";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

const config = {
  "d.yaml":
    "domain: d\ndescriptors:\n  - key: k\n    rate_limit: { unit: day, requests_per_unit: 1000000 }\n",
};

/** `grpc.health.v1.HealthCheckResponse.ServingStatus.SERVING` */
const SERVING = 1;

/** Milliseconds. */
const drainDelay = scaled(300);

/** One instance and its clients, which call it only while its health is SERVING, as a gateway does. */
class Upstream {
  readonly caller: GrpcCaller;
  readonly #watch: ClientReadableStream<boolean>;
  serving = false;
  /** End of the drain delay, on the monotonic clock. */
  stopsAt = Number.POSITIVE_INFINITY;
  readonly #waiting: { wanted: boolean; resolve: () => void }[] = [];

  constructor(address: string) {
    this.caller = new GrpcCaller(address, undefined, { "grpc.use_local_subchannel_pool": 1 });
    const read = (bytes: Buffer) => fromBinary(healthResponseSchema, bytes).status === SERVING;
    this.#watch = this.caller.client.makeServerStreamRequest(
      "/grpc.health.v1.Health/Watch",
      () => Buffer.alloc(0),
      read,
      {},
    );
    this.#watch.on("data", (serving: boolean) => this.#set(serving));
    this.#watch.on("error", () => this.#set(false));
  }

  /** Resolves when the health has this status. */
  until(serving: boolean): Promise<void> {
    if (this.serving === serving) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ wanted: serving, resolve }));
  }

  close(): void {
    this.#watch.cancel();
    this.caller.close();
  }

  #set(serving: boolean): void {
    this.serving = serving;
    for (const { wanted, resolve } of this.#waiting.splice(0)) {
      if (wanted === serving) resolve();
      else this.#waiting.push({ wanted, resolve });
    }
  }
}

for (const workers of ["1", "2"]) {
  test(`a rolling restart under load loses no call, WORKERS=${workers}`, {
    timeout: scaled(60_000),
  }, async () => {
    const start = (port = "0"): Promise<RunningTollgate> =>
      startTollgate({ config, env: { DRAIN_DELAY: `${drainDelay}ms`, GRPC_PORT: port, WORKERS: workers } });
    const instances = await Promise.all([start(), start()]);
    const upstreams = instances.map(({ grpc }) => new Upstream(grpc));
    await Promise.all(upstreams.map((upstream) => upstream.until(true)));
    let [running, answered] = [true, 0];
    const failures: unknown[] = [];
    async function load(worker: number): Promise<void> {
      for (let call = worker; running; call++) {
        const serving = upstreams.filter((upstream) => upstream.serving);
        const upstream = serving[call % serving.length]!;
        const begun = performance.now();
        try {
          await upstream.caller.ask(request("d", descriptor("k=v")));
          answered++;
        } catch (error) {
          // An instance answers calls during the drain delay. On a busy machine the client may read the health later than
          // that and still call the instance. Half of the delay is reserved for the call itself.
          if (begun < upstream.stopsAt - drainDelay / 2) failures.push(error);
        }
      }
    }
    const workersOfLoad = Array.from({ length: 8 }, (_, worker) => load(worker));
    try {
      for (const index of [0, 1]) {
        const before = answered;
        const port = instances[index]!.grpc.split(":").at(-1)!;
        upstreams[index]!.stopsAt = performance.now() + drainDelay;
        assert.equal((await instances[index]!.stop()).code, 0);
        assert.equal(upstreams[index]!.serving, false);
        upstreams[index]!.close();
        instances[index] = await start(port);
        upstreams[index] = new Upstream(instances[index].grpc);
        await upstreams[index].until(true);
        assert.ok(answered > before);
      }
    } finally {
      running = false;
      await Promise.all(workersOfLoad);
      for (const upstream of upstreams) upstream.close();
      await Promise.all(instances.map((instance) => instance.stop()));
    }
    assert.deepEqual(failures, []);
    assert.ok(answered > 100, String(answered));
  });
}
