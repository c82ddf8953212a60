import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { scaled } from "../../../../tools/time-scale.ts";
import type { CounterStore } from "../../src/counters/store.ts";
import {
  type CallTrace,
  noTracing,
  type TraceAttributes,
  type Tracing,
} from "../../src/observe/tracing/tracing.ts";
import { MemcachedServer } from "../servers/memcached.ts";
import { RedisServer } from "../servers/redis.ts";
import { countFails, countOne, makeKvstore, makeObjcache } from "./kvstore-support.ts";

interface Trip {
  readonly name: string;
  readonly calls: readonly CallTrace[];
  readonly attributes: TraceAttributes;
  ended: string | null | undefined;
}

function recorder(): { tracing: Tracing; trips: Trip[] } {
  const trips: Trip[] = [];
  const tracing: Tracing = {
    ...noTracing,
    enabled: true,
    startRoundTrip(name, calls, attributes) {
      const trip: Trip = { name, calls, attributes, ended: undefined };
      trips.push(trip);
      return {
        set() {},
        end(error) {
          trip.ended = error ?? null;
        },
      };
    },
  };
  return { tracing, trips };
}

describe("spans of round trips", () => {
  let redis: RedisServer;
  let memcached: MemcachedServer;
  before(async () => {
    redis = await RedisServer.start();
    memcached = await MemcachedServer.start();
  });
  after(() => Promise.all([redis.stop(), memcached.stop()]));

  /** Sends two recorded calls and an unrecorded one in one batch. */
  async function countTogether(store: CounterStore, tracing: Tracing): Promise<CallTrace[]> {
    await countOne(store, { stem: "trace|warm|hour:" });
    const call = () => ({}) as CallTrace;
    const calls = [call(), call()];
    const counts: Promise<number>[] = [];
    for (const active of [...calls, undefined]) {
      tracing.active = active;
      counts.push(countOne(store, { stem: `trace|${counts.length}|hour:` }));
    }
    tracing.active = undefined;
    await Promise.all(counts);
    return calls;
  }

  test("kvstore: one span for each batch, linked to its calls, with the pipeline's length", async (t) => {
    const { tracing, trips } = recorder();
    const store = makeKvstore({ url: redis.url, poolSize: 1, tracing });
    t.after(() => store.close());
    const calls = await countTogether(store, tracing);
    const trip = trips.at(-1)!;
    assert.deepEqual([trip.name, trip.ended], ["KVStore Pipeline Execution", null]);
    assert.deepEqual(trip.attributes, { "pipeline length": 6 });
    assert.deepEqual(trip.calls, calls);
  });

  test("objcache: one span for each batch of a connection", async (t) => {
    const { tracing, trips } = recorder();
    const store = makeObjcache({ nodes: [memcached.url], maxIdleConnections: 1, tracing });
    t.after(() => store.close());
    const calls = await countTogether(store, tracing);
    const trip = trips.find((one) => one.calls.length > 0)!;
    assert.deepEqual([trip.name, trip.ended], ["ObjCache Fetch Execution", null]);
    assert.deepEqual(trip.attributes, { "keysToGet length": 3 });
    assert.deepEqual(trip.calls, calls);
  });

  test("the span of a failed round trip has its error", async (t) => {
    const { tracing, trips } = recorder();
    const stopped = await RedisServer.start();
    t.after(() => stopped.stop());
    const store = makeKvstore({ url: stopped.url, poolSize: 1, timeout: scaled(100), tracing });
    t.after(() => store.close());
    await countOne(store, { stem: "trace|warm|hour:" });
    await stopped.pause();
    await countFails(store, "STORE_TIMEOUT");
    assert.match(trips.at(-1)!.ended!, /did not answer within \d+ ms/);
  });
});
