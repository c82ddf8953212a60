/** Measures the memory of idle connections and their effect on busy connections. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { PREFACE } from "../../packages/grpc-wire/src/frames/constants.ts";
import { frame } from "../../packages/grpc-wire/src/frames/write.ts";
import { encodeHeaders } from "../../packages/grpc-wire/src/hpack/encoder.ts";
import { load, ServerProcess } from "./load.ts";
import { METHOD } from "./servers.ts";

const HEADERS = 1;
const DATA = 0;
const SETTINGS = 4;

/** Preface, SETTINGS and one call: the connection has been used once and is then idle. */
const opening = Buffer.concat([
  PREFACE,
  frame(SETTINGS, 0, 0, Buffer.alloc(0)),
  frame(
    HEADERS,
    0x4,
    1,
    encodeHeaders([
      [":method", "POST"],
      [":scheme", "http"],
      [":path", METHOD],
      ["content-type", "application/grpc"],
      ["te", "trailers"],
    ]),
  ),
  frame(DATA, 1, 1, Buffer.alloc(5)),
]);

/** Sockets that connect at the same time. More could overflow the listener's backlog. */
const BATCH = 100;

async function openIdle(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const batch = Array.from({ length: Math.min(BATCH, count - sockets.length) }, () =>
      connect({ port, host: "127.0.0.1" }),
    );
    await Promise.all(
      batch.map(async (socket) => {
        await once(socket, "connect");
        socket.write(opening);
        await once(socket, "data");
        socket.resume();
      }),
    );
    sockets.push(...batch);
  }
  return sockets;
}

/** Prints the memory of `count` idle connections and the CPU per response without and with them. */
export async function measureIdle(names: readonly string[], count: number, folder: string): Promise<void> {
  console.log(`\n${count.toLocaleString("en")} idle connections, each after one call`);
  console.log(
    "                                         KiB each   CPU/response without -> with them (8 x 50)",
  );
  for (const name of names) {
    const server = await ServerProcess.start(name);
    const shape = { connections: 8, streams: 50 };
    await load(server, shape, 1, folder);
    const alone = await load(server, shape, 1, folder);
    const before = await server.usage("memory");
    const sockets = await openIdle(server.port, count);
    const after = await server.usage("memory");
    const crowded = await load(server, shape, 1, folder);
    const each = (after.rssBytes - before.rssBytes) / 1024 / count;
    console.log(
      `${name.padEnd(40)}${each.toFixed(1).padStart(9)}   ${alone.cpuMicros.toFixed(2)} -> ${crowded.cpuMicros.toFixed(2)} µs`,
    );
    for (const socket of sockets) socket.destroy();
    await server.stop();
  }
}
