/**
 * The process of `gatewayLoad`. Reads the load as JSON from standard input, sends the calls, and writes its figures as
 * JSON. Without a rate, each connection keeps all its streams busy. With a rate, calls leave one by one at equal
 * distances, on the connections in turn, and the latency of a call starts when it is due.
 */
import { text } from "node:stream/consumers";
import { cpuMicroseconds, waitMicroseconds } from "../support/process.ts";
import { traceparents } from "./envoy-headers.ts";
import type { ClientFigures, GatewayLoad } from "./load.ts";
import { LoadConnection } from "./load-connection.ts";
import { chooser, Messages, seededRandom } from "./workload.ts";

const input = JSON.parse(await text(process.stdin)) as GatewayLoad & {
  readonly url: string;
  readonly pid: number;
};
const { connections, streams, rate } = input;
const random = seededRandom(7);
const address = chooser(input.choice, input.addresses, random);
const tenant = chooser(input.choice === "turn" ? "turn" : "zipf", input.tenants, random);
const messages = new Messages();
const traces = input.isTraced ? traceparents(4096, random) : [undefined];

/** Calls of both phases. */
let begun = 0;
let ended = 0;
let wanted = 0;
let phase = Promise.withResolvers<void>();
/** The first call of a phase with a rate, its due time, and the distance between calls, in milliseconds. */
let first = 0;
let start = 0;
const distance = 1000 / (rate ?? 1);
/** The latency of each call from its due time, and how late it left, in milliseconds. */
let latencies = new Float64Array(0);
let delays = new Float64Array(0);
/** Milliseconds of turns of the event loop in which no call began or ended. */
let idle = 0;

const url = new URL(input.url);
const opened: readonly LoadConnection[] = await Promise.all(
  Array.from({ length: connections }, (_, number) =>
    LoadConnection.open(url, {
      path: url.pathname,
      isTraced: input.isTraced,
      messageLength: messages.length,
      trace: (call) => traces[(call * connections + number) % traces.length],
      write: (out, at) => messages.write(out, at, address(), tenant()),
      ended: (call) => {
        ended++;
        if (rate === undefined) return;
        const place = call * connections + number - first;
        latencies[place] = performance.now() - start - place * distance;
      },
      read: (calls) => {
        if (rate === undefined) send(opened[number]!, calls);
        if (ended === wanted) phase.resolve();
      },
      failed: (error) => phase.reject(error),
    }),
  ),
);

function send(connection: LoadConnection, most: number): void {
  const calls = Math.min(most, wanted - begun);
  if (calls === 0) return;
  begun += calls;
  connection.send(calls);
}

/** Sends so many calls and waits for their responses. Returns the milliseconds. */
async function run(calls: number): Promise<number> {
  phase = Promise.withResolvers();
  phase.promise.catch(() => undefined);
  first = begun;
  wanted = begun + calls;
  idle = 0;
  latencies = new Float64Array(rate === undefined ? 0 : calls);
  delays = new Float64Array(latencies.length);
  if (calls === 0) return 0;
  start = performance.now();
  if (rate === undefined) for (const connection of opened) send(connection, streams);
  else pace();
  await phase.promise;
  return performance.now() - start;
}

/** Sends the calls that are due, in each turn of the event loop. */
function pace(): void {
  let seen = begun + ended;
  let last = start;
  const turn = (): void => {
    let now = performance.now();
    if (begun + ended === seen) idle += now - last;
    last = now;
    seen = begun + ended;
    while (begun < wanted) {
      const delay = now - start - (begun - first) * distance;
      if (delay < 0) break;
      delays[begun - first] = delay;
      send(opened[begun % connections]!, 1);
      now = performance.now();
    }
    if (begun < wanted) setImmediate(turn);
  };
  turn();
}

/** Sorts, and returns percentiles in microseconds. */
function percentiles(milliseconds: Float64Array): readonly number[] {
  milliseconds.sort();
  return [0.5, 0.99, 0.999].map(
    (share) => (milliseconds[Math.floor(milliseconds.length * share)] ?? 0) * 1000,
  );
}

const isPaced = rate !== undefined;
await run(isPaced ? Math.ceil(input.warmUp / connections) * connections : input.warmUp);
globalThis.gc?.();
const used = () =>
  [input.pid, process.pid].map((pid) => ({ cpu: cpuMicroseconds(pid), wait: waitMicroseconds(pid) }));
const [serverBefore, clientBefore] = used();
const milliseconds = await run(input.calls);
const [serverAfter, clientAfter] = used();
for (const connection of opened) connection.close();
const [p50, p99, p999] = percentiles(latencies);
const [, late99, late999] = percentiles(delays);
const figures: ClientFigures = {
  perSecond: (input.calls / milliseconds) * 1000,
  p50: p50!,
  p99: p99!,
  p999: p999!,
  late99: late99!,
  late999: late999!,
  clientShare: isPaced ? 1 - idle / milliseconds : 1,
  clientWait: (clientAfter!.wait - clientBefore!.wait) / milliseconds / 1000,
  serverWait: (serverAfter!.wait - serverBefore!.wait) / milliseconds / 1000,
  serverMicroseconds: serverAfter!.cpu - serverBefore!.cpu,
};
process.stdout.write(JSON.stringify(figures));
