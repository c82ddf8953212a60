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
 * Measures the latency of a gateway's calls at half of each server's saturation, and the duration of garbage collections.
 * The client sends every call by itself when it is due, and the latency starts then. So it includes the time in which the
 * client does other work.
 */
export const latency: Budget = async (effort) => {
  const { rounds, calls, redis } = effort;
  const measured = await medians(
    {
      own: { start: tollgate() },
      wire: { start: nodePeer("budgets/servers/empty-wire.ts") },
      redis: { start: tollgate({ KVSTORE_URL: redis }) },
      trip: { start: nodePeer("budgets/servers/round-trip.ts", { BENCH_REDIS: redis }) },
    },
    rounds,
    (peer) => atHalf(peer, calls),
  );
  const own = measured.get("own")!;
  const wire = measured.get("wire")!;
  const overRedis = measured.get("redis")!;
  const trip = measured.get("trip")!;
  const at = ({ rate }: { rate: number }) => `at ${Math.round(rate / 1000)} k/s`;
  return [
    {
      budget: "half of saturation, embedded: p99 under 1 ms",
      figure: `${ms(own.p99)} ${at(own)}`,
      baseline: `empty handler on grpc-wire ${ms(wire.p99)} ${at(wire)}`,
      met: own.p99 < 1000,
      reason: loadReason,
    },
    {
      budget: "half of saturation, embedded: p99.9 under 5 ms",
      figure: `${ms(own.p999)} ${at(own)}`,
      baseline: `empty handler on grpc-wire ${ms(wire.p999)} ${at(wire)}`,
      met: own.p999 < 5000,
      reason: loadReason,
    },
    {
      budget: "half of saturation, over Redis: p99 at most twice that of a bare round trip",
      figure: `${ms(overRedis.p99)} ${at(overRedis)}`,
      baseline: `a handler that sends PING to Redis ${ms(trip.p99)} ${at(trip)}`,
      met: overRedis.p99 <= 2 * trip.p99,
      reason: loadReason,
    },
    await collections(effort),
  ];
};

const loadReason =
  "The load generator (and Redis) share the other core. The latency of the empty handler, or of the bare round trip, is their part of the figure.";

function ms(microseconds: number): string {
  return `${(microseconds / 1000).toFixed(2)} ms`;
}

/** Finds half of the rate at which one call on each connection saturates the server, and measures the latency there. */
function atHalf(peer: Peer, calls: number) {
  const load = { ...leading, connections: CONNECTIONS, streams: 1 };
  const { perSecond } = gatewayLoad(peer, { ...load, calls, warmUp: calls });
  const rate = perSecond / 2;
  const { p50, p99, p999 } = gatewayLoad(peer, {
    ...load,
    rate,
    calls: Math.ceil(rate * SECONDS),
    warmUp: Math.ceil(rate / 2),
  });
  return { rate, p50, p99, p999 };
}

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
    };
  });
}
