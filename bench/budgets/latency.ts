import { gatewayLoad } from "../gateway/load.ts";
import { leading } from "../gateway/workload.ts";
import { nodePeer, onPeer, type Peer, tollgate } from "../support/peers.ts";
import { freePort, startTollgate } from "../support/tollgate.ts";
import type { Budget, Effort, Row } from "./budget.ts";
import { medians } from "./compare.ts";

/** Seconds at the constant rate, long enough for many garbage collections. */
const SECONDS = 3;
/** Calls arrive one by one on so many connections. */
const CONNECTIONS = 16;

/**
 * Measures the latency of a gateway's calls at half of saturation, and the duration of garbage collections. The client
 * sends every call by itself when it is due, and the latency starts then. So it includes the client's delays.
 */
export const latency: Budget = async (effort) => {
  const { rounds, calls, redis } = effort;
  const measured = await medians(
    {
      own: { start: tollgate(), givesWay: false },
      wire: { start: nodePeer("budgets/servers/empty-wire.ts"), givesWay: false },
      redis: { start: tollgate({ KVSTORE_URL: redis }), givesWay: true },
      trip: { start: nodePeer("budgets/servers/round-trip.ts", { BENCH_REDIS: redis }), givesWay: true },
    },
    rounds,
    (peer, { givesWay }) => atHalf(peer, calls, givesWay),
  );
  const own = measured.get("own")!;
  const wire = measured.get("wire")!;
  const overRedis = measured.get("redis")!;
  const trip = measured.get("trip")!;
  return [
    {
      budget: "half of saturation, embedded: p99 under 1 ms",
      figure: figureOf(own, "p99"),
      baseline: `empty handler on grpc-wire ${figureOf(wire, "p99")}`,
      met: own.p99 < 1000,
      reason: partsOf(own, wire),
    },
    {
      budget: "half of saturation, embedded: p99.9 under 5 ms",
      figure: figureOf(own, "p999"),
      baseline: `empty handler on grpc-wire ${figureOf(wire, "p999")}`,
      met: own.p999 < 5000,
      reason: partsOf(own, wire),
    },
    {
      budget: "half of saturation, over Redis: p99 at most twice that of a bare round trip",
      figure: figureOf(overRedis, "p99"),
      baseline: `a handler that sends PING to Redis ${figureOf(trip, "p99")}`,
      met: overRedis.p99 <= 2 * trip.p99,
      reason: partsOf(overRedis, trip),
    },
    await collections(effort),
  ];
};

type AtHalf = ReturnType<typeof atHalf>;

function figureOf(measured: AtHalf, share: "p99" | "p999"): string {
  const { rate, serverShare, clientShare } = measured;
  return `${ms(measured[share])} at ${Math.round(rate / 1000)} k/s, server ${percent(serverShare)} and load ${percent(clientShare)} busy`;
}

/** Names the parts of a latency with figures of the same run. */
function partsOf(own: AtHalf, base: AtHalf): string {
  const parts = (of: AtHalf) =>
    `p50 ${ms(of.p50)}, p99 ${ms(of.p99)}, p99.9 ${ms(of.p999)}, of which the load was late by p99 ${ms(of.late99)} and p99.9 ${ms(of.late999)}; while ready to run, the server waited for its core for ${percent(of.serverWait)} of the time, and the load for ${percent(of.clientWait)}`;
  return `service: ${parts(own)}. Baseline: ${parts(base)}. The part of the baseline is the kernel's, grpc-wire's and the load's. The rest is the decision's and that of collections, which have a budget of their own.`;
}

function ms(microseconds: number): string {
  return `${(microseconds / 1000).toFixed(2)} ms`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}

/** Finds half of the rate at which one call on each connection saturates both processes, and measures the latency there. */
function atHalf(peer: Peer, calls: number, givesWay = false) {
  const load = { ...leading, connections: CONNECTIONS, streams: 1 };
  const { perSecond } = gatewayLoad(peer, { ...load, calls, warmUp: calls });
  const rate = perSecond / 2;
  const measured = gatewayLoad(peer, {
    ...load,
    rate,
    givesWay,
    calls: Math.ceil(rate * SECONDS),
    warmUp: Math.ceil(rate / 2),
  });
  return { ...measured, rate, serverShare: (measured.cpuMicroseconds * rate) / 1e6 };
}

const collectionsReason =
  "Two reports of one day had 0.88 and 1.18 ms. A collection copies what survives it, mostly calls in flight. The image has a smaller young generation, with a median of 0.7 ms ([the hot path](decisions/hot-path.md#memory-at-rest)).";

/** Reads the service's statistics of young generation collections at half of saturation. */
async function collections({ calls }: Effort): Promise<Row> {
  const statistics = {
    DISABLE_STATS: "false",
    USE_PULLSTATS: "true",
    PULLSTATS_ADDR: `127.0.0.1:${await freePort()}`,
  };
  let debug = "";
  const start = async () => {
    const server = await startTollgate(statistics);
    debug = server.debug;
    return { server, url: server.url };
  };
  return onPeer(start, async (peer) => {
    const { rate } = atHalf(peer, calls);
    const filter = encodeURIComponent("gc_duration.__kind=minor");
    const text = await (await fetch(`${debug}/stats?filter=${filter}`)).text();
    const figure = (name: string) =>
      Number(new RegExp(`\\.${name}: ([\\d.]+)`).exec(text)?.[1] ?? Number.NaN);
    return {
      budget: "collections of the young generation: median under 1 ms (own budget of the benchmark)",
      figure: `${figure("p50_ms").toFixed(2)} ms; longest of ${figure("count")}, including the warm-up: ${figure("max_ms").toFixed(2)} ms`,
      baseline: `at up to ${Math.round((2 * rate) / 1000)} k/s, for at least ${SECONDS} s`,
      met: figure("p50_ms") < 1,
      reason: collectionsReason,
    };
  });
}
