/**
 * The process behind and in front of Envoy: the upstream, and 16 connections that send one request after the other. Prints
 * the port of the upstream, reads the load as a line of JSON, sends the requests, and prints the server's CPU for each.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { cpuMicroseconds } from "../support/process.ts";

export interface EnvoyLoad {
  /** The port of Envoy. */
  readonly port: number;
  /** The process id of the rate limit service. */
  readonly pid: number;
  readonly keys: number;
  readonly calls: number;
  readonly warmUp: number;
}

const CONNECTIONS = 16;
const END = "\r\n\r\n";
const OK = Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: 0${END}`);

/** Calls `each` for every end of a header section. */
function onHeaders(socket: Socket, each: (head: string) => void): void {
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
    for (let end = text.indexOf(END); end >= 0; end = text.indexOf(END)) {
      const head = text.slice(0, end);
      text = text.slice(end + END.length);
      each(head);
    }
  });
}

const upstream = createServer((socket) => {
  socket.on("error", () => socket.destroy());
  onHeaders(socket, () => socket.write(OK));
});
await once(upstream.listen(0, "127.0.0.1"), "listening");
console.log((upstream.address() as AddressInfo).port);

const [line] = (await once(createInterface(process.stdin), "line")) as [string];
const load = JSON.parse(line) as EnvoyLoad;
let number = 0;

/** Sends requests on one connection until `left` is used up. */
function send(socket: Socket, left: { calls: number }): Promise<void> {
  const next = (): void => {
    left.calls--;
    const key = number++ % load.keys;
    const address = `10.${key >>> 16}.${(key >>> 8) & 0xff}.${key & 0xff}`;
    const tenant = `tenant-${key % 1000}`;
    socket.write(
      `GET /api/orders/1 HTTP/1.1\r\nhost: gateway\r\nx-forwarded-for: ${address}\r\nx-tenant: ${tenant}${END}`,
    );
  };
  return new Promise((resolve, reject) => {
    socket.removeAllListeners();
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("Envoy closed a connection")));
    onHeaders(socket, (head) => {
      if (!head.startsWith("HTTP/1.1 200")) reject(new Error(`Envoy answered: ${head}`));
      else if (left.calls > 0) next();
      else resolve();
    });
    next();
  });
}

async function run(sockets: readonly Socket[], calls: number): Promise<void> {
  const left = { calls };
  await Promise.all(sockets.map((socket) => send(socket, left)));
}

const sockets = Array.from({ length: CONNECTIONS }, () => connect(load.port, "127.0.0.1"));
await Promise.all(sockets.map((socket) => once(socket, "connect")));
await run(sockets, load.warmUp);
const before = cpuMicroseconds(load.pid);
const start = performance.now();
await run(sockets, load.calls);
const seconds = (performance.now() - start) / 1000;
console.log(
  JSON.stringify({
    cpuMicroseconds: (cpuMicroseconds(load.pid) - before) / load.calls,
    perSecond: load.calls / seconds,
  }),
);
process.exit(0);
