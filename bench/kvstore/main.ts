/**
 * Measures decisions with Redis on loopback: Tollgate's kvstore, and node-redis with a pipeline per call, in one run.
 *
 *   npm run bench -- kvstore [--seconds 1] [--in-flight 400] [--pool-size 10]
 *
 * CPU is the time of this process, including the load loop, which both sides share. Latency is per call, at half of the
 * store's maximum rate, together with bare round trips (PING) to the same server.
 */
import { parseArgs } from "node:util";
import { createClient, createCluster } from "@redis/client";
import type { KvstoreStore } from "../../packages/tollgate/src/counters/kvstore/kvstore.ts";
import {
  type Count,
  type CountRequest,
  HoldBack,
  Refuses,
} from "../../packages/tollgate/src/counters/store.ts";
import { makeKvstore } from "../../packages/tollgate/test/counters/kvstore-support.ts";
import { RedisCluster } from "../../packages/tollgate/test/servers/cluster.ts";
import { RedisServer } from "../../packages/tollgate/test/servers/redis.ts";

type Decide = (key: number) => unknown;

interface Result {
  readonly perSecond: number;
  readonly cpu: number;
}

/** Runs `inFlight` callers. Each one calls again after its answer. */
async function load(decide: Decide, keys: number, seconds: number, inFlight: number): Promise<Result> {
  const end = performance.now() + seconds * 1000;
  let done = 0;
  let next = 1;
  const caller = async () => {
    while (performance.now() < end) {
      next = (next * 48271) % 2147483647;
      await decide(next % keys);
      done++;
    }
  };
  const begun = performance.now();
  const cpu = process.cpuUsage();
  await Promise.all(Array.from({ length: inFlight }, caller));
  const { user, system } = process.cpuUsage(cpu);
  return { perSecond: (done / (performance.now() - begun)) * 1000, cpu: (user + system) / done };
}

function windowStart(): number {
  const seconds = Math.floor(Date.now() / 1000);
  return seconds - (seconds % 3600);
}

const stemOf = (key: number) => `bench|tenant=customer-${key}|path=/v1/orders|hour:`;

function throughStore(store: KvstoreStore): Decide {
  const start = windowStart();
  return (key) => {
    const count: Count = {
      stem: stemOf(key),
      windowStart: start,
      windowSize: 3600,
      hits: 1,
      limit: 1000,
      refuses: Refuses.ALWAYS,
      outcome: 0,
      after: 0,
    };
    const request: CountRequest = { counts: [count], holdBack: HoldBack.NEVER, now: Date.now(), deadline: 0 };
    return store.count(request);
  };
}

interface PipelineMaker {
  multi(): { incrBy(key: string, by: number): unknown; expire(key: string, seconds: number): unknown };
}

function throughPipeline(client: PipelineMaker): Decide {
  const start = windowStart();
  return (key) => {
    const pipeline = client.multi() as ReturnType<PipelineMaker["multi"]> & {
      execAsPipeline(): Promise<unknown>;
    };
    const name = stemOf(key) + start;
    pipeline.incrBy(name, 1);
    pipeline.expire(name, 3600 + Math.floor(Math.random() * 300));
    return pipeline.execAsPipeline();
  };
}

function print(name: string, own: Result, peer: Result): void {
  const cell = ({ perSecond, cpu }: Result) => `${Math.round(perSecond / 1000)} k/s ${cpu.toFixed(2)} µs`;
  console.log(
    `| ${name} | ${cell(own)} | ${cell(peer)} | ${(peer.cpu / own.cpu).toFixed(1)} times less CPU, ` +
      `${(own.perSecond / peer.perSecond).toFixed(1)} times the decisions |`,
  );
}

function quantile(values: number[], q: number): string {
  values.sort((a, b) => a - b);
  return `${values[Math.floor(values.length * q)]!.toFixed(3)} ms`;
}

/** Maximum calls in flight: if the rate is too high, further calls are delayed. */
const MAX_OPEN = 5000;

/** Calls at a steady rate, with the due calls in each turn of the event loop. @returns latencies in milliseconds */
async function steady(decide: Decide, perSecond: number, seconds: number): Promise<number[]> {
  const latencies: number[] = [];
  const begun = performance.now();
  let sent = 0;
  const call = async (key: number) => {
    const at = performance.now();
    await decide(key);
    latencies.push(performance.now() - at);
  };
  while (performance.now() < begun + seconds * 1000) {
    const due = Math.floor(((performance.now() - begun) / 1000) * perSecond);
    for (; sent < due && sent - latencies.length < MAX_OPEN; sent++) void call(sent % 1000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  while (latencies.length < sent) await new Promise((resolve) => setImmediate(resolve));
  return latencies;
}

async function pingMeanwhile(ping: () => Promise<unknown>, seconds: number): Promise<number[]> {
  const latencies: number[] = [];
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    const at = performance.now();
    await ping();
    latencies.push(performance.now() - at);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return latencies;
}

export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: "string", default: "1" },
      "in-flight": { type: "string", default: "400" },
      "pool-size": { type: "string", default: "10" },
    },
  });
  const seconds = Number(values.seconds);
  const inFlight = Number(values["in-flight"]);
  const poolSize = Number(values["pool-size"]);
  const counts = [
    ["one hot key", 1],
    ["1,000 keys", 1000],
    ["1,000,000 keys", 1_000_000],
  ] as const;
  console.log(`| ${inFlight} in flight | Tollgate kvstore | node-redis pipeline per call | ratio |`);
  console.log("|---|---|---|---|");

  await using redis = await RedisServer.start();
  const store = makeKvstore({ url: redis.url, poolSize });
  const client = await createClient({ url: `redis://${redis.url}` }).connect();
  const own = throughStore(store);
  const peer = throughPipeline(client as unknown as PipelineMaker);
  await load(own, 1000, 0.2, inFlight);
  await load(peer, 1000, 0.2, inFlight);
  let fastest = 0;
  for (const [name, keys] of counts) {
    const result = await load(own, keys, seconds, inFlight);
    if (keys === 1000) fastest = result.perSecond;
    print(`single, ${name}`, result, await load(peer, keys, seconds, inFlight));
  }

  // Bare round trips run at the same time, with the same server and processor.
  const pings: Promise<number[]> = pingMeanwhile(() => client.ping(), seconds);
  const half = await steady(own, fastest / 2, seconds);
  const ping = await pings;
  console.log(
    `\nlatency at half of saturation (${Math.round(half.length / seconds / 1000)} k/s): median ${quantile(half, 0.5)}, ` +
      `p99 ${quantile(half, 0.99)}; a bare round trip: median ${quantile(ping, 0.5)}, p99 ${quantile(ping, 0.99)}\n`,
  );
  client.destroy();
  await store.close();

  await using cluster = await RedisCluster.start(3);
  const clusterStore = makeKvstore({ type: "cluster", url: cluster.url, poolSize });
  const clusterClient = await createCluster({
    rootNodes: cluster.nodes.map((node) => ({ url: `redis://${node.url}` })),
  }).connect();
  const ownCluster = throughStore(clusterStore);
  const peerCluster = throughPipeline(clusterClient as unknown as PipelineMaker);
  await load(ownCluster, 1000, 0.2, inFlight);
  await load(peerCluster, 1000, 0.2, inFlight);
  for (const [name, keys] of counts)
    print(
      `cluster of 3, ${name}`,
      await load(ownCluster, keys, seconds, inFlight),
      await load(peerCluster, keys, seconds, inFlight),
    );
  clusterClient.destroy();
  await clusterStore.close();
}

if (import.meta.main) await main(process.argv.slice(2));
