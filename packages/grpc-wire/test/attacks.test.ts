/**
 * Known attacks on HTTP/2 and gRPC servers. Each is run against a server in its own process: what it makes the
 * server hold is bounded, and a caller on another connection is served all the while.
 */
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { scaled } from "../../../tools/time-scale.ts";
import { Fortress, flood, Neighbour, type Service } from "./support/fortress.ts";
import {
  callFields,
  type Fields,
  frame,
  message,
  preface,
  type RawClient,
  settings,
  type,
  uint32,
} from "./support/raw-client.ts";

const KiB = 1024;
const MiB = 1024 * KiB;
/** The neighbour's worst call: far above what a loaded machine takes, far below a stall. */
const WORST_MS = scaled(3000);

/** Made once, outside of the timed tests. */
const gzipBomb = message(gzipSync(Buffer.alloc(100 * MiB), { level: 1 }), 1);

let fortress: Fortress;
let neighbour: Neighbour;
before(async () => {
  fortress = await Fortress.start({
    connection: {
      handshakeTimeoutMs: scaled(1500),
      sendTimeoutMs: scaled(1500),
      requestTimeoutMs: scaled(1500),
    },
    limits: {
      maxConcurrentStreams: 500,
      maxQueuedBytesPerConnection: 2 * MiB,
      maxBufferedBytes: 24 * MiB,
      // The default budgets grow by 500 frames a second: a slow machine sends floods no faster.
      resetsPerSecond: 1,
      idleFramesPerSecond: 1,
    },
  });
  neighbour = await Neighbour.open(fortress);
});
after(async () => {
  await neighbour.close();
  fortress.stop();
});

interface Attack {
  readonly name: string;
  /** The most memory that the server may hold for the attack while it lasts. */
  readonly maxBytes: number;
  /** Does it, checks what comes back, and returns what has to be closed afterwards. */
  readonly run: () => Promise<readonly (Socket | RawClient)[]>;
}

/** Resolves when the socket is closed, with or without an error. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => (socket.closed ? resolve() : socket.once("close", () => resolve())));
}

async function expectEnhanceYourCalm(client: RawClient, text: RegExp): Promise<void> {
  const goaway = await client.goaway();
  assert.equal(goaway.code, 11, goaway.text);
  assert.match(goaway.text, text);
  await client.closed();
}

const get = (id: number, client: RawClient) => client.headers(id, callFields("/a.A/Never"));

/** Floods the server until it answers with GOAWAY. More content would make it reset the connection, which can drop GOAWAY. */
async function floodUntilGoaway(client: RawClient, chunk: Buffer, times: number): Promise<void> {
  for (let index = 0; index < times && !hasGoaway(client); index++) {
    await flood(client.socket, chunk, 1);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function hasGoaway(client: RawClient): boolean {
  return client.isClosed || client.frames.some((each) => each.type === type.goaway);
}

/** Calls `part` for many stream ids, in a few large writes, until the server answers with GOAWAY. */
async function manyStreams(client: RawClient, count: number, part: (id: number) => Buffer): Promise<void> {
  let parts: Buffer[] = [];
  for (let index = 0; index < count && !hasGoaway(client); index++) {
    parts.push(part(index * 2 + 1));
    if (parts.length === 500) {
      await floodUntilGoaway(client, Buffer.concat(parts), 1);
      parts = [];
    }
  }
  await flood(client.socket, Buffer.concat(parts), 1);
}

/** A flood of one kind of frame over a socket that never reads. */
function deafFlood(name: string, chunk: Buffer, maxBytes = 8 * MiB): Attack {
  return {
    name: `${name}, over a socket that is never read`,
    maxBytes,
    run: async () => {
      const socket = await fortress.deaf();
      const repeated = Buffer.concat(new Array(Math.ceil((64 * KiB) / chunk.length)).fill(chunk));
      await flood(socket, repeated, 300);
      socket.resume();
      await closed(socket);
      return [socket];
    },
  };
}

const attacks: Attack[] = [
  {
    name: "rapid reset (CVE-2023-44487)",
    maxBytes: 8 * MiB,
    run: async () => {
      const client = await fortress.open();
      await manyStreams(client, 20_000, (id) =>
        Buffer.concat([
          get(id, client),
          frame(type.data, 1, id, message("")),
          frame(type.reset, 0, id, uint32(8)),
        ]),
      );
      await expectEnhanceYourCalm(client, /too many streams with errors|too many RST_STREAM/);
      return [client];
    },
  },
  {
    name: "resets provoked from the server (CVE-2025-8671)",
    maxBytes: 8 * MiB,
    run: async () => {
      const client = await fortress.open();
      await manyStreams(client, 20_000, (id) =>
        Buffer.concat([get(id, client), frame(type.windowUpdate, 0, id, uint32(0))]),
      );
      await expectEnhanceYourCalm(client, /reset|WINDOW_UPDATE/);
      return [client];
    },
  },
  ...[0, 1, 16_384].map(
    (size): Attack => ({
      name: `CONTINUATION flood of ${size} bytes each (CVE-2024-27316)`,
      maxBytes: 8 * MiB,
      run: async () => {
        const client = await fortress.open();
        client.send(frame(type.headers, 0, 1, Buffer.from([0x82])));
        await floodUntilGoaway(client, frame(type.continuation, 0, 1, Buffer.alloc(size, 0x82)), 10_000);
        await expectEnhanceYourCalm(client, /header block is too long/);
        return [client];
      },
    }),
  ),
  deafFlood("SETTINGS flood (CVE-2019-9515)", settings([4, 65_535])),
  deafFlood("SETTINGS flood with full frames", settings(...new Array(2730).fill([4, 65_536]))),
  deafFlood("PING flood (CVE-2019-9512)", frame(type.ping, 0, 0, Buffer.alloc(8))),
  deafFlood("PRIORITY flood", frame(type.priority, 0, 1, Buffer.from("0000000010", "hex"))),
  deafFlood("WINDOW_UPDATE flood on the connection", frame(type.windowUpdate, 0, 0, uint32(1))),
  deafFlood("WINDOW_UPDATE flood on a closed stream", frame(type.windowUpdate, 0, 1, uint32(1))),
  deafFlood("flood of unknown frames", frame(0xee, 0, 1, Buffer.alloc(100))),
  deafFlood("flood of SETTINGS acknowledgements", frame(type.settings, 1, 0)),
  {
    name: "PING flood between calls, over a socket that is never read",
    maxBytes: 8 * MiB,
    run: async () => {
      const client = await fortress.open();
      client.socket.pause();
      for (let index = 0; index < 200; index++) {
        const parts: Buffer[] = [];
        for (let call = 0; call < 100; call++) {
          const id = (index * 100 + call) * 2 + 1;
          parts.push(client.call(id, "/a.A/Echo", "x".repeat(500)), frame(type.ping, 0, 0, Buffer.alloc(8)));
        }
        await flood(client.socket, Buffer.concat(parts), 1, 500);
      }
      return [client];
    },
  },
  {
    name: "empty DATA flood (CVE-2019-9518)",
    maxBytes: 8 * MiB,
    run: async () => {
      const client = await fortress.open();
      client.send(client.headers(1, callFields("/a.A/Echo")));
      await flood(client.socket, Buffer.concat(new Array(1000).fill(frame(type.data, 0, 1))), 100);
      await expectEnhanceYourCalm(client, /empty DATA/);
      return [client];
    },
  },
  {
    name: "flood of padding-only DATA",
    maxBytes: 8 * MiB,
    run: async () => {
      const client = await fortress.open();
      client.send(client.headers(1, callFields("/a.A/Echo")));
      await floodUntilGoaway(
        client,
        Buffer.concat(
          new Array(200).fill(frame(type.data, 8, 1, Buffer.concat([Buffer.from([9]), Buffer.alloc(9)]))),
        ),
        100,
      );
      await expectEnhanceYourCalm(client, /empty DATA/);
      return [client];
    },
  },
  {
    name: "empty HEADERS flood",
    maxBytes: 8 * MiB,
    run: async () => {
      const client = await fortress.open();
      await manyStreams(client, 20_000, (id) => frame(type.headers, 5, id));
      await expectEnhanceYourCalm(client, /too many streams with errors|too many RST_STREAM/);
      return [client];
    },
  },
  {
    name: "HPACK bomb: references to one large table entry",
    maxBytes: 8 * MiB,
    run: async () => {
      const client = await fortress.open();
      const value = "b".repeat(3900);
      client.send(client.call(1, "/a.A/Echo", "", [["bomb", value]]));
      await client.answer(1);
      // Every field of a call but the last has a known index; the entry is the newest, index 62.
      const bomb = (id: number) => {
        const block = Buffer.concat([
          client.headers(id, callFields("/a.A/Echo")).subarray(9),
          Buffer.alloc(16_000, 0xbe),
        ]);
        return Buffer.concat([frame(type.headers, 4, id, block), frame(type.data, 1, id, message(""))]);
      };
      for (let id = 3; id < 203; id += 2) client.send(bomb(id));
      const { fields } = await client.answer(201);
      assert.equal(fields.get("grpc-status"), "8");
      return [client];
    },
  },
  {
    name: "header lists above the limit",
    maxBytes: 8 * MiB,
    run: async () => {
      const client = await fortress.open();
      for (let id = 1; id < 100; id += 2) {
        const more: Fields = [["x-large", "a".repeat(12_000)]];
        client.send(
          frame(type.headers, 0, id, client.headers(id, callFields("/a.A/Echo", more)).subarray(9)),
        );
        client.send(
          frame(type.continuation, 4, id, client.headers(id, [["x-larger", "a".repeat(6000)]]).subarray(9)),
        );
        client.send(frame(type.data, 1, id, message("")));
      }
      assert.equal((await client.answer(99)).fields.get("grpc-status"), "8");
      return [client];
    },
  },
  {
    name: "zero windows: answers that are never let go",
    maxBytes: 16 * MiB,
    run: async () => {
      const clients = await Promise.all([1, 2, 3].map(() => fortress.open(settings([4, 0]))));
      for (const client of clients) {
        await manyStreams(client, 400, (id) => client.call(id, "/a.A/Large"));
        await client.until(() =>
          client.frames.some((each) => each.type === type.reset && each.payload.readUInt32BE() === 11),
        );
      }
      const { heldBytes } = await fortress.measure();
      assert.ok(heldBytes > 2 * MiB, "the answers do wait");
      // The streams do not wait indefinitely.
      for (const client of clients)
        await client.until(() =>
          client.frames.some((each) => each.type === type.reset && each.payload.readUInt32BE() === 8),
        );
      return clients;
    },
  },
  {
    name: "zero windows: HEADERS of all calls first, then their DATA",
    maxBytes: 16 * MiB,
    run: async () => {
      const clients = await Promise.all([1, 2, 3].map(() => fortress.open(settings([4, 0]))));
      for (const client of clients) {
        await manyStreams(client, 400, (id) => client.headers(id, callFields("/a.A/Large")));
        await manyStreams(client, 400, (id) => frame(type.data, 1, id, message("")));
        await client.until(() =>
          client.frames.some((each) => each.type === type.reset && each.payload.readUInt32BE() === 11),
        );
      }
      assert.ok((await fortress.measure()).queuedBytes > 2 * MiB, "some answers wait");
      return clients;
    },
  },
  {
    name: "DATA on streams that the server has reset",
    maxBytes: 8 * MiB,
    run: async () => {
      const client = await fortress.open();
      client.send(get(1, client), frame(type.windowUpdate, 0, 1, uint32(0)));
      await floodUntilGoaway(
        client,
        Buffer.concat(new Array(500).fill(frame(type.data, 0, 1, Buffer.alloc(1)))),
        200,
      );
      await expectEnhanceYourCalm(client, /closed stream/);
      return [client];
    },
  },
  {
    name: "HEADERS on streams that the server has reset",
    maxBytes: 8 * MiB,
    run: async () => {
      const client = await fortress.open();
      client.send(get(1, client), frame(type.windowUpdate, 0, 1, uint32(0)));
      const trailers = client.headers(1, [["x", "y".repeat(500)]], 0x5);
      await floodUntilGoaway(client, Buffer.concat(new Array(50).fill(trailers)), 200);
      await expectEnhanceYourCalm(client, /closed stream/);
      return [client];
    },
  },
  {
    name: "tiny windows: a byte at a time",
    maxBytes: 8 * MiB,
    run: async () => {
      const client = await fortress.open(settings([4, 1]));
      client.send(client.call(1, "/a.A/Large"));
      await floodUntilGoaway(
        client,
        Buffer.concat(new Array(500).fill(frame(type.windowUpdate, 0, 1, uint32(1)))),
        200,
      );
      await expectEnhanceYourCalm(client, /WINDOW_UPDATE/);
      return [client];
    },
  },
  {
    name: "a reader that never reads large answers",
    maxBytes: 8 * MiB,
    run: async () => {
      const client = await fortress.open(settings([4, 0x7fffffff]));
      client.send(frame(type.windowUpdate, 0, 0, uint32(0x7fff0000)));
      client.socket.pause();
      const { connections } = await fortress.measure();
      for (let id = 1; id < 4001; id += 2) await flood(client.socket, client.call(id, "/a.A/Large"), 1, 500);
      // The server gives the connection up by itself.
      while ((await fortress.measure()).connections >= connections)
        await new Promise((resolve) => setTimeout(resolve, 50));
      return [client];
    },
  },
  {
    name: "a stream of messages whose answers are never read",
    maxBytes: 8 * MiB,
    run: async () => {
      const client = await fortress.open();
      client.send(client.headers(1, callFields("/a.A/Each")));
      client.socket.pause();
      await flood(client.socket, frame(type.data, 0, 1, message(Buffer.alloc(12_000))), 20, 500);
      return [client];
    },
  },
  {
    name: "lying message lengths: 4 MiB promised, nothing sent",
    maxBytes: 8 * MiB,
    run: async () => {
      const clients = await Promise.all([1, 2, 3, 4].map(() => fortress.open()));
      for (const client of clients) {
        await manyStreams(client, 500, (id) =>
          Buffer.concat([
            client.headers(id, callFields("/a.A/Echo")),
            frame(type.data, 0, id, Buffer.from("0000400000aa", "hex")),
          ]),
        );
        client.send(frame(type.ping, 0, 0, Buffer.alloc(8)));
        await client.frame(type.ping);
      }
      return clients;
    },
  },
  {
    name: "slow senders: large messages left unfinished",
    maxBytes: 40 * MiB,
    run: async () => {
      const clients = await Promise.all([1, 2, 3].map(() => fortress.open()));
      const part = Buffer.concat([message(Buffer.alloc(3 * MiB)).subarray(0, 16_000)]);
      for (const client of clients) {
        await manyStreams(client, 480, (id) =>
          Buffer.concat([
            client.headers(id, callFields("/a.A/Echo")),
            frame(type.data, 0, id, part),
            frame(type.data, 0, id, part),
          ]),
        );
      }
      // Too much at once is RESOURCE_EXHAUSTED; the rest is given up after the request time-out.
      const resets = (client: RawClient) => client.frames.filter((each) => each.type === type.reset).length;
      for (const client of clients) await client.until(() => resets(client) === 480);
      return clients;
    },
  },
  {
    name: "frames that never end",
    maxBytes: 8 * MiB,
    run: async () => {
      const sockets = await Promise.all(Array.from({ length: 50 }, () => fortress.deaf()));
      for (const socket of sockets) socket.write(Buffer.from("004000000000000001", "hex"));
      for (const socket of sockets) socket.resume();
      await Promise.all(sockets.map(closed));
      return sockets;
    },
  },
  {
    name: "more streams than allowed",
    maxBytes: 8 * MiB,
    run: async () => {
      const client = await fortress.open();
      await manyStreams(client, 900, (id) =>
        Buffer.concat([get(id, client), frame(type.data, 1, id, message(""))]),
      );
      assert.equal((await client.answer(1799)).reset, 7);
      assert.equal((await fortress.measure()).activeCalls, 500);
      return [client];
    },
  },
  {
    name: "gzip bombs: 100 MB each",
    maxBytes: 24 * MiB,
    run: async () => {
      const client = await fortress.open();
      const gzip: Fields = [["grpc-encoding", "gzip"]];
      for (let id = 1; id < 21; id += 2) {
        client.send(client.headers(id, callFields("/a.A/Echo", gzip)));
        for (let at = 0; at < gzipBomb.length; at += 16_384)
          client.send(
            frame(type.data, at + 16_384 >= gzipBomb.length ? 1 : 0, id, gzipBomb.subarray(at, at + 16_384)),
          );
      }
      for (let id = 1; id < 21; id += 2)
        assert.equal((await client.answer(id)).fields.get("grpc-status"), "8");
      return [client];
    },
  },
  {
    name: "half-open connections",
    maxBytes: 8 * MiB,
    run: async () => {
      const parts = [Buffer.alloc(0), preface.subarray(0, 12), preface];
      const sockets = Array.from({ length: 150 }, (_, index) => {
        const socket = connect({ port: fortress.port, host: "127.0.0.1" });
        socket.on("error", () => {});
        socket.resume();
        socket.write(parts[index % 3]!);
        return socket;
      });
      await Promise.all(sockets.map(closed));
      return sockets;
    },
  },
];

for (const { name, maxBytes, run } of attacks) {
  test(name, async () => {
    const first = await fortress.measure();
    neighbour.start();
    const sampler = sample();
    let attackers: readonly (Socket | RawClient)[] = [];
    let most = 0;
    let service: Service;
    try {
      attackers = await run();
    } finally {
      most = await sampler.stop();
      service = await neighbour.stop();
      for (const attacker of attackers) "frames" in attacker ? attacker.close() : attacker.destroy();
    }
    const held = most - first.heldBytes;
    assert.ok(held <= maxBytes, `the server held ${(held / MiB).toFixed(1)} MiB more`);
    assert.ok(service.worstMs < WORST_MS, `the neighbour waited ${service.worstMs.toFixed(0)} ms`);
  });
}

test("after all attacks, the server holds nothing", async () => {
  let counts = await fortress.measure();
  while (counts.connections > 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    counts = await fortress.measure();
  }
  // The neighbour.
  assert.equal(counts.connections, 1);
  assert.equal(counts.activeCalls, 0);
  assert.equal(counts.bufferedBytes, 0);
  assert.equal(counts.queuedBytes, 0);
});

/** Measures the server again and again, in a long attack less often; the most that it held. */
function sample() {
  let most = 0;
  let stopped = false;
  const once_ = async () => {
    most = Math.max(most, (await fortress.measure()).heldBytes);
  };
  const running = (async () => {
    for (let pause = 20; !stopped; pause = Math.min(pause * 1.1, 200)) {
      await once_();
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    await once_();
  })();
  return {
    async stop(): Promise<number> {
      stopped = true;
      await running;
      return most;
    },
  };
}
