/**
 * The process of `gatewayLoad`. Reads the load as JSON from standard input, sends the calls, and writes its figures as
 * JSON. Without a rate, each connection keeps all its streams busy. With a rate, calls leave one by one at equal
 * distances, on the connections in turn, and the latency of a call starts when it is due.
 */
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { cpuMicroseconds } from "../support/process.ts";
import { EnvoyHeaders, type Trace, traceparents } from "./envoy-headers.ts";
import type { ClientFigures, GatewayLoad } from "./load.ts";
import { chooser, Messages, seededRandom } from "./workload.ts";

const input = JSON.parse(await text(process.stdin)) as GatewayLoad & {
  readonly url: string;
  readonly pid: number;
};
const { hostname, port, pathname } = new URL(input.url);
const { connections, streams, rate } = input;

const FRAME_HEADER = 9;
const DATA = 0;
const HEADERS = 1;
const SETTINGS = 4;
const PING = 6;
const WINDOW_UPDATE = 8;
const END_STREAM = 1;
const ACK = 1;
const END_HEADERS = 4;
/** Room for one call. */
const CALL_BYTES = 1024;

const random = seededRandom(7);
const address = chooser(input.choice, input.addresses, random);
const tenant = chooser(input.choice === "turn" ? "turn" : "zipf", input.tenants, random);
const messages = new Messages();
const traces: readonly Trace[] = input.isTraced ? traceparents(4096, random) : [];

function frame(type: number, flags: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.alloc(FRAME_HEADER + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.set(payload, FRAME_HEADER);
  return bytes;
}

let begun = 0;
let ended = 0;
/** The number of calls of the present phase. */
let wanted = 0;
let phase = Promise.withResolvers<void>();
/** The latency of each call of a phase with a rate, from its due time, in milliseconds. */
let latencies = new Float64Array(0);

class Connection {
  readonly #socket: Socket;
  readonly #headers = new EnvoyHeaders(pathname, input.isTraced);
  readonly #answered = new Set<number>();
  readonly #due = new Map<number, number>();
  #stream = 1;
  #rest: Buffer = Buffer.alloc(0);

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", (error) => phase.reject(error));
    socket.on("close", () =>
      phase.reject(new Error(`the server closed a connection after ${ended} responses`)),
    );
    const window = Buffer.alloc(4);
    window.writeUInt32BE(0x3fff_0000);
    socket.write(
      Buffer.concat([
        Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        frame(SETTINGS, 0, Buffer.alloc(0)),
        frame(WINDOW_UPDATE, 0, window),
      ]),
    );
  }

  /** Sends up to `count` calls in one write. @param due when the call should have been sent, if there is a rate */
  begin(count: number, due?: number): void {
    const most = Math.min(count, wanted - begun);
    if (most <= 0) return;
    const out = Buffer.allocUnsafe(most * CALL_BYTES);
    let at = 0;
    for (let call = 0; call < most; call++) {
      if (due !== undefined) this.#due.set(this.#stream, due);
      at = this.#writeCall(out, at);
    }
    this.#socket.write(out.subarray(0, at));
  }

  #writeCall(out: Buffer, at: number): number {
    const block = at + FRAME_HEADER;
    const trace = input.isTraced ? traces[begun % traces.length] : undefined;
    const data = this.#headers.write(out, block, trace);
    head(out, at, data - block, HEADERS, END_HEADERS, this.#stream);
    head(out, data, messages.length, DATA, END_STREAM, this.#stream);
    messages.write(out, data + FRAME_HEADER, address(), tenant());
    this.#stream += 2;
    begun++;
    return data + FRAME_HEADER + messages.length;
  }

  #read(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    let done = 0;
    while (bytes.length - at >= FRAME_HEADER) {
      const next = at + FRAME_HEADER + bytes.readUIntBE(at, 3);
      if (next > bytes.length) break;
      const type = bytes[at + 3]!;
      const flags = bytes[at + 4]!;
      if (type === DATA) this.#answered.add(bytes.readUInt32BE(at + 5));
      else if (type === HEADERS && flags & END_STREAM) {
        this.#end(bytes.readUInt32BE(at + 5));
        done++;
      } else if (type === SETTINGS && !(flags & ACK))
        this.#socket.write(frame(SETTINGS, ACK, Buffer.alloc(0)));
      else if (type === PING && !(flags & ACK))
        this.#socket.write(frame(PING, ACK, bytes.subarray(at + FRAME_HEADER, next)));
      at = next;
    }
    this.#rest = bytes.subarray(at);
    if (done > 0 && rate === undefined) this.begin(done);
    if (ended === wanted) phase.resolve();
  }

  #end(id: number): void {
    if (!this.#answered.delete(id)) phase.reject(new Error("a call ended without a message"));
    const due = this.#due.get(id);
    if (due !== undefined) {
      this.#due.delete(id);
      latencies[ended] = performance.now() - due;
    }
    ended++;
  }

  close(): void {
    this.#socket.removeAllListeners("close");
    this.#socket.destroy();
  }
}

function head(out: Buffer, at: number, length: number, type: number, flags: number, id: number): void {
  out[at] = 0;
  out[at + 1] = length >>> 8;
  out[at + 2] = length;
  out[at + 3] = type;
  out[at + 4] = flags;
  out.writeUInt32BE(id, at + 5);
}

/** Sends `calls` calls and waits for their responses. Returns the calls per second. */
async function run(peers: readonly Connection[], calls: number): Promise<number> {
  begun = ended = 0;
  wanted = calls;
  phase = Promise.withResolvers();
  phase.promise.catch(() => undefined);
  if (calls === 0) return 0;
  const from = performance.now();
  if (rate === undefined) for (const peer of peers) peer.begin(streams);
  else pace(peers, calls, rate / 1000);
  await phase.promise;
  return calls / ((performance.now() - from) / 1000);
}

/** Sends the calls that are due, in each turn of the event loop. */
function pace(peers: readonly Connection[], calls: number, perMillisecond: number): void {
  latencies = new Float64Array(calls);
  const from = performance.now();
  const turn = (): void => {
    const now = performance.now();
    while (begun < calls && from + begun / perMillisecond <= now)
      peers[begun % peers.length]!.begin(1, from + begun / perMillisecond);
    if (begun < calls) setImmediate(turn);
  };
  turn();
}

function open(): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    socket.once("error", reject);
    socket.once("connect", () => resolve(new Connection(socket)));
  });
}

const opened = await Promise.all(Array.from({ length: connections }, open));
await run(opened, input.warmUp);
const before = cpuMicroseconds(input.pid);
const perSecond = await run(opened, input.calls);
const serverMicroseconds = cpuMicroseconds(input.pid) - before;
for (const connection of opened) connection.close();
latencies.sort();
const at = (share: number) => (latencies[Math.floor(latencies.length * share)] ?? 0) * 1000;
const figures: ClientFigures = {
  perSecond,
  serverMicroseconds,
  p50: at(0.5),
  p99: at(0.99),
  p999: at(0.999),
};
process.stdout.write(JSON.stringify(figures));
