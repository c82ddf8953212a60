/**
 * The process behind and in front of Envoy: the upstream, and 16 connections that send one request after the other. Prints
 * the port of the upstream. Then reads turns as lines of JSON, and prints the figures of each.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import type { Served } from "../gateway/load.ts";
import { cpuMicroseconds, residentMemory } from "../support/process.ts";

/** Calls to one service. */
export interface Turn {
  /** A port of Envoy. */
  readonly port: number;
  /** The process id of the rate limit service behind that port. */
  readonly pid: number;
  readonly keys: number;
  readonly calls: number;
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

let number = 0;

/** Sends requests on one connection until `left` is used up. */
function send(socket: Socket, keys: number, left: { calls: number }): Promise<void> {
  const next = (): void => {
    left.calls--;
    const key = number++ % keys;
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

const socketsOfPort = new Map<number, readonly Socket[]>();

async function take({ port, pid, keys, calls }: Turn): Promise<Served> {
  let sockets = socketsOfPort.get(port);
  if (sockets === undefined) {
    sockets = Array.from({ length: CONNECTIONS }, () => connect(port, "127.0.0.1"));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    socketsOfPort.set(port, sockets);
  }
  const left = { calls };
  const before = cpuMicroseconds(pid);
  const start = performance.now();
  await Promise.all(sockets.map((socket) => send(socket, keys, left)));
  const seconds = (performance.now() - start) / 1000;
  return {
    cpuMicroseconds: (cpuMicroseconds(pid) - before) / calls,
    perSecond: calls / seconds,
    mebibytes: residentMemory(pid),
  };
}

const upstream = createServer((socket) => {
  socket.on("error", () => socket.destroy());
  onHeaders(socket, () => socket.write(OK));
});
await once(upstream.listen(0, "127.0.0.1"), "listening");
console.log((upstream.address() as AddressInfo).port);
for await (const line of createInterface(process.stdin))
  console.log(JSON.stringify(await take(JSON.parse(line) as Turn)));
process.exit(0);
