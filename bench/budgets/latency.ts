import { message } from "../support/decision.ts";
import { framedFile, h2load } from "../support/h2load.ts";
import { emptyGrpcJs, nodePeer, onPeer, type Peer, tollgate } from "../support/peers.ts";
import { freePort, startTollgate } from "../support/tollgate.ts";
import { type Budget, type Effort, gateway, type Row } from "./budget.ts";
import { medians } from "./compare.ts";

/** Seconds at the constant rate, long enough for many garbage collections. */
const SECONDS = 3;

const body = framedFile(message("path=/api/a,remote_address=192.0.2.1"));

/** Measures the latency at half of each server's saturation and the duration of garbage collections. */
export const latency: Budget = async (effort) => {
  const { rounds, calls } = effort;
  const measured = await medians(
    {
      own: { start: tollgate(), calls },
      wire: { start: nodePeer("budgets/servers/empty-wire.ts"), calls },
      empty: { start: emptyGrpcJs, calls: Math.ceil(calls / 3) },
    },
    rounds,
    (peer, contender) => atHalf(peer, contender.calls),
  );
  const own = measured.get("own")!;
  const wire = measured.get("wire")!;
  const empty = measured.get("empty")!;
  const at = ({ rate }: { rate: number }) => `at ${Math.round(rate / 1000)} k/s`;
  return [
    {
      budget: "half of saturation, embedded: p99 under 1 ms",
      figure: `${ms(own.p99)} ${at(own)}`,
      baseline: `empty handler on grpc-wire ${ms(wire.p99)} ${at(wire)}, on grpc-js ${ms(empty.p99)} ${at(empty)}`,
      met: own.p99 < 1000,
      reason: loadReason,
    },
    {
      budget: "half of saturation, embedded: p99.9 under 5 ms",
      figure: `${ms(own.p999)} ${at(own)}`,
      baseline: `empty handler on grpc-wire ${ms(wire.p999)} ${at(wire)}, on grpc-js ${ms(empty.p999)} ${at(empty)}`,
      met: own.p999 < 5000,
      reason: loadReason,
    },
    await collections(effort),
  ];
};

const loadReason =
  "Most of the latency comes from the load generator, as the empty handler on the same server shows: it runs on one core and sends bursts that occupy the server for 0.2 ms and more, although the server is idle for four fifths of the time. A garbage collection takes 0.45 ms, ten times a second. Next: a load generator on several cores.";

function ms(microseconds: number): string {
  return `${(microseconds / 1000).toFixed(2)} ms`;
}

/** Finds half of the saturation rate in calls per second, and measures the latency at that rate in microseconds. */
function atHalf({ server, url }: Peer, calls: number) {
  h2load(server.pid, url, body, { ...gateway, calls });
  const { perSecond } = h2load(server.pid, url, body, { ...gateway, calls });
  const rate = perSecond / 2;
  const { p50, p99, p999 } = h2load(server.pid, url, body, {
    ...gateway,
    rate,
    calls: Math.ceil(rate * SECONDS),
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
