import { message } from "../support/decision.ts";
import { framedFile, h2load } from "../support/h2load.ts";
import { emptyGrpcJs, tollgate } from "../support/peers.ts";
import { type Budget, gateway } from "./budget.ts";
import { medians } from "./compare.ts";

/** Seconds at the steady rate; garbage is collected many times in it. */
const SECONDS = 3;

/** Latency at half of what each server can do. */
export const latency: Budget = async ({ rounds, calls }) => {
  const body = framedFile(message("path=/api/a,remote_address=192.0.2.1"));
  const measured = await medians(
    { own: { start: tollgate(), calls }, empty: { start: emptyGrpcJs, calls: Math.ceil(calls / 3) } },
    rounds,
    ({ server, url }, { calls }) => {
      h2load(server.pid, url, body, { ...gateway, calls: Math.ceil(calls / 2) });
      const { perSecond } = h2load(server.pid, url, body, { ...gateway, calls });
      const rate = perSecond / 2;
      return {
        rate,
        ...h2load(server.pid, url, body, { ...gateway, rate, calls: Math.ceil(rate * SECONDS) }),
      };
    },
  );
  const own = measured.get("own")!;
  const empty = measured.get("empty")!;
  const ms = (microseconds: number): string => `${(microseconds / 1000).toFixed(2)} ms`;
  const at = ({ rate }: { rate: number }) => `at ${Math.round(rate / 1000)} k/s`;
  return [
    {
      budget: "half of saturation, embedded: p99 under 1 ms",
      figure: `${ms(own.p99)} ${at(own)}`,
      baseline: `empty grpc-js handler ${ms(empty.p99)} ${at(empty)}`,
      met: own.p99 < 1000,
    },
    {
      budget: "half of saturation, embedded: p99.9 under 5 ms",
      figure: `${ms(own.p999)} ${at(own)}`,
      baseline: `empty grpc-js handler ${ms(empty.p999)} ${at(empty)}`,
      met: own.p999 < 5000,
    },
  ];
};
