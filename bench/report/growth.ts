import type { Effort } from "../budgets/budget.ts";
import { gateway } from "../budgets/budget.ts";
import { type Contender, compare, medians } from "../budgets/compare.ts";
import { message } from "../support/decision.ts";
import { table } from "../support/figures.ts";
import { framedFile } from "../support/h2load.ts";
import { emptyGrpcJs, tollgate } from "../support/peers.ts";
import { residentMemory } from "../support/process.ts";
import { KEY_PLACE, rawLoad } from "../support/raw-load.ts";
import type { Section } from "./section.ts";

const times = (value: number, first: number): string => (value / first).toFixed(2);

/** Measures 1 to 1,000,000 live counters. */
export async function keysSection(effort: Effort, isQuick: boolean): Promise<Section> {
  const sizes = isQuick ? [1, 1000, 100_000] : [1, 10, 100, 1000, 10_000, 100_000, 1_000_000];
  const start = tollgate({ EMBEDDED_STORE_SIZE_IN_BYTES: String(512 * 1024 ** 2) });
  const contenders = Object.fromEntries(sizes.map((keys) => [String(keys), { start, keys }]));
  const measured = await medians(contenders, effort.rounds, ({ server, url }, { keys }) => {
    const load = { ...gateway, keys, message: message(`user=${KEY_PLACE}`) };
    // The first load creates every counter and fills the caches.
    rawLoad(server.pid, url, { ...load, calls: Math.max(2 * keys, effort.calls / 2) });
    const { cpuMicroseconds } = rawLoad(server.pid, url, { ...load, calls: Math.max(keys, effort.calls) });
    return { cpuMicroseconds, memory: residentMemory(server.pid) };
  });
  const of = (keys: number) => measured.get(String(keys))!;
  const first = of(sizes[0]!);
  return {
    name: "keys",
    title: "Live keys",
    text: "The calls use the keys in turn, so a key is never in a processor's cache when many are live.",
    table: table(
      ["live keys", "CPU us per decision", "x one key", "MiB resident"],
      sizes.map((keys) => [
        keys.toLocaleString("en"),
        of(keys).cpuMicroseconds.toFixed(2),
        times(of(keys).cpuMicroseconds, first.cpuMicroseconds),
        Math.round(of(keys).memory),
      ]),
    ),
    plot: {
      title: "CPU of a decision by live keys, embedded",
      x: "live keys",
      y: "us",
      series: [{ name: "Tollgate", points: sizes.map((keys) => [keys, of(keys).cpuMicroseconds]) }],
    },
  };
}

/** Measures 1 to 1,000 connections with 10 streams each. */
export async function connectionsSection(effort: Effort, isQuick: boolean): Promise<Section> {
  const sizes = isQuick ? [1, 100] : [1, 10, 100, 1000];
  const body = framedFile(message("path=/api/a,remote_address=192.0.2.1"));
  const contenders: Record<string, Contender> = {};
  for (const connections of sizes) {
    const shape = { connections, streams: 10 };
    contenders[`own ${connections}`] = { start: tollgate(), body, shape };
    contenders[`empty ${connections}`] = { start: emptyGrpcJs, body, shape, isSlow: true };
  }
  const measured = await compare(contenders, gateway, effort);
  const own = (size: number) => measured.get(`own ${size}`)!.cpuMicroseconds;
  const empty = (size: number) => measured.get(`empty ${size}`)!.cpuMicroseconds;
  return {
    name: "connections",
    title: "Connections",
    text: "Each connection has 10 streams. With more connections, each read and each write contains fewer calls.",
    table: table(
      [
        "connections",
        "CPU us per decision",
        "x one connection",
        "empty grpc-js handler, us",
        "times cheaper",
      ],
      sizes.map((size) => [
        size.toLocaleString("en"),
        own(size).toFixed(2),
        times(own(size), own(sizes[0]!)),
        empty(size).toFixed(1),
        (empty(size) / own(size)).toFixed(1),
      ]),
    ),
    plot: {
      title: "CPU of a call by connections, 10 streams on each",
      x: "connections",
      y: "us",
      series: [
        { name: "Tollgate, a whole decision", points: sizes.map((size) => [size, own(size)]) },
        { name: "grpc-js, empty handler", points: sizes.map((size) => [size, empty(size)]) },
      ],
    },
  };
}

/** Measures 1 to 16 descriptors per request. */
export async function descriptorsSection(effort: Effort, isQuick: boolean): Promise<Section> {
  const sizes = isQuick ? [1, 4, 16] : [1, 2, 4, 8, 16];
  const users = (count: number) => Array.from({ length: count }, (_, index) => `user=user-${index}`);
  const contenders: Record<string, Contender> = {};
  for (const size of sizes)
    contenders[size] = { start: tollgate(), body: framedFile(message(...users(size))) };
  const measured = await compare(contenders, gateway, effort);
  const of = (size: number) => measured.get(String(size))!.cpuMicroseconds;
  return {
    name: "descriptors",
    title: "Descriptors in a request",
    text: "Each descriptor is counted and has a status in the response.",
    table: table(
      ["descriptors", "CPU us per decision", "x one descriptor", "us per descriptor"],
      sizes.map((size) => [size, of(size).toFixed(2), times(of(size), of(1)), (of(size) / size).toFixed(2)]),
    ),
    plot: {
      title: "CPU of a decision by descriptors in the request, embedded",
      x: "descriptors",
      y: "us",
      series: [{ name: "Tollgate", points: sizes.map((size) => [size, of(size)]) }],
    },
  };
}
