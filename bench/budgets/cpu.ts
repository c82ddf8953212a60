import { message } from "../support/decision.ts";
import { framedFile } from "../support/h2load.ts";
import { emptyGrpcJs, goBinary, goService, tollgate } from "../support/peers.ts";
import { type Budget, gateway } from "./budget.ts";
import { type Contender, compare } from "./compare.ts";

const us = (value: number): string => `${value.toFixed(2)} us`;

/** Compares the CPU of a decision with each store to an empty handler and the Go service. */
export const cpu: Budget = async (effort) => {
  const body = framedFile(message("path=/api/a,remote_address=192.0.2.1"));
  const contenders: Record<string, Contender> = {
    embedded: { start: tollgate(), body },
    redis: { start: tollgate({ KVSTORE_URL: effort.redis }), body },
    empty: { start: emptyGrpcJs, body, isSlow: true },
    ...(goBinary !== undefined && { go: { start: goService(goBinary, effort.redis), body, isSlow: true } }),
  };
  const measured = await compare(contenders, gateway, effort);
  const used = (name: string): number => measured.get(name)!.cpuMicroseconds;
  const empty = `empty grpc-js handler ${us(used("empty"))}`;
  const rows = [
    {
      budget: "embedded, 8 connections x 50 streams: at most 2 us of CPU per decision",
      figure: us(used("embedded")),
      baseline: empty,
      met: used("embedded") <= 2,
    },
    {
      budget: "embedded: at least 10 times cheaper than an empty grpc-js handler",
      figure: `${(used("empty") / used("embedded")).toFixed(1)} times`,
      baseline: empty,
      met: used("empty") >= 10 * used("embedded"),
    },
    {
      budget: "over Redis: at most 4 us of CPU per decision",
      figure: us(used("redis")),
      baseline: empty,
      met: used("redis") <= 4,
    },
  ];
  if (!measured.has("go")) return rows;
  const times = used("go") / used("redis");
  return [
    ...rows,
    {
      budget: "over Redis: at least 5 times less CPU than the Go service",
      figure: `${times.toFixed(1)} times`,
      baseline: `the Go service ${us(used("go"))}`,
      met: times >= 5,
    },
  ];
};

/** One stream on each of 64 connections, which prevents batching. */
export const manyConnections: Budget = async (effort) => {
  const body = framedFile(message("path=/api/a,remote_address=192.0.2.1"));
  const measured = await compare(
    {
      embedded: { start: tollgate(), body },
      empty: { start: emptyGrpcJs, body, isSlow: true },
    },
    { connections: 64, streams: 1 },
    effort,
  );
  const own = measured.get("embedded")!;
  const empty = measured.get("empty")!;
  const times = own.perSecond / empty.perSecond;
  return [
    {
      budget:
        "64 connections x 1 stream: at least 2.5 times the decisions per second of an empty grpc-js handler",
      figure: `${times.toFixed(1)} times (${Math.round(own.perSecond)}/s, ${us(own.cpuMicroseconds)})`,
      baseline: `${Math.round(empty.perSecond)}/s, ${us(empty.cpuMicroseconds)}`,
      met: times >= 2.5,
    },
  ];
};

/** Compares requests with four descriptors to requests with one. */
export const descriptors: Budget = async (effort) => {
  const one = framedFile(message("user=ann"));
  const four = framedFile(
    message("user=ann", "path=/api/a,remote_address=192.0.2.1", "plan=free", "user=bob"),
  );
  const start = tollgate();
  const measured = await compare({ one: { start, body: one }, four: { start, body: four } }, gateway, effort);
  const [single, several] = [measured.get("one")!.cpuMicroseconds, measured.get("four")!.cpuMicroseconds];
  return [
    {
      budget: "four descriptors in a request cost less than twice one",
      figure: `${(several / single).toFixed(2)} times (${us(several)})`,
      baseline: `one: ${us(single)}`,
      met: several < 2 * single,
    },
  ];
};
