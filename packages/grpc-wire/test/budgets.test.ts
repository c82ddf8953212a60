/** Every byte that a peer makes the server hold is counted. Over fake sockets, so that no time passes. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { fakeSocket } from "../fuzz/fake-socket.ts";
import { GrpcServer, type ServerOptions, Status } from "../src/index.ts";
import { HpackPeer } from "./support/hpack.ts";
import {
  callFields,
  type Fields,
  frame,
  message,
  parseFrames,
  preface,
  settings,
  type,
  uint32,
} from "./support/raw-client.ts";

const KiB = 1024;
const MiB = 1024 * KiB;

/** A connection without a network: bytes arrive at once. */
class Peer {
  readonly #encoder = new HpackPeer();
  readonly #wire = fakeSocket();

  constructor(server: GrpcServer, first = settings()) {
    server.serve(this.#wire.socket);
    this.say(preface, first);
  }

  get socket() {
    return this.#wire.fake;
  }

  get frames() {
    return parseFrames(Buffer.concat(this.socket.written)).frames;
  }

  say(...parts: Buffer[]): void {
    this.socket.emit("data", Buffer.concat(parts));
  }

  headers(id: number, path: string, more: Fields = []): Buffer {
    return frame(type.headers, 4, id, this.#encoder.encode(callFields(path, more)));
  }

  call(id: number, path: string, content: Uint8Array = Buffer.alloc(0), flag = 0, more: Fields = []): Buffer {
    const bytes = message(content, flag);
    const parts = [this.headers(id, path, more)];
    for (let at = 0; at < bytes.length; at += 16_384)
      parts.push(frame(type.data, at + 16_384 >= bytes.length ? 1 : 0, id, bytes.subarray(at, at + 16_384)));
    return Buffer.concat(parts);
  }

  /** Statuses of the streams that have ended, and the codes of those that were reset, by stream. */
  ends(): Map<number, string> {
    const decoder = new HpackPeer();
    const result = new Map<number, string>();
    for (const { type: kind, id, payload } of this.frames) {
      if (kind === type.reset && !result.has(id)) result.set(id, `reset ${payload.readUInt32BE()}`);
      if (kind !== type.headers) continue;
      const status = new Map(decoder.decode(payload)).get("grpc-status");
      if (status !== undefined) result.set(id, status);
    }
    return result;
  }

  async until(done: () => boolean): Promise<void> {
    while (!done()) await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

function serve(register: (server: GrpcServer) => void, options: ServerOptions = {}) {
  const server = new GrpcServer(options);
  register(server);
  return Object.assign(server, { [Symbol.asyncDispose]: () => server.close() });
}

const gzip: Fields = [["grpc-encoding", "gzip"]];

test("counts compressed messages that wait for decompression", async () => {
  await using server = serve((it) => it.unary("/t.T/Length", ({ length }) => Buffer.from(String(length))), {
    limits: { maxRequestBytes: MiB, maxBufferedBytesPerConnection: MiB, connectionWindowBytes: 8 * MiB },
  });
  const peer = new Peer(server);
  const content = gzipSync(randomBytes(100 * KiB));
  for (let id = 1; id < 41; id += 2) peer.say(peer.call(id, "/t.T/Length", content, 1, gzip));
  // No inflated message can have come back within this turn: all of them wait, or were too much.
  assert.ok(server.counts().bufferedBytes > 0.8 * MiB, `${server.counts().bufferedBytes} counted`);
  const refused = [...peer.ends().values()].filter((status) => status === "8");
  assert.equal(refused.length, 10);
  await peer.until(() => peer.ends().size === 20);
  assert.equal([...peer.ends().values()].filter((status) => status === "0").length, 10);
  assert.equal(server.counts().bufferedBytes, 0);
});

test("does not decompress messages of cancelled calls", async () => {
  let ran = 0;
  await using server = serve((it) =>
    it.unary("/t.T/Length", ({ length }) => {
      ran += 1;
      return Buffer.from(String(length));
    }),
  );
  const peer = new Peer(server);
  const content = gzipSync(randomBytes(100 * KiB));
  for (let id = 1; id < 41; id += 2)
    peer.say(peer.call(id, "/t.T/Length", content, 1, gzip), frame(type.reset, 0, id, uint32(8)));
  peer.say(peer.call(41, "/t.T/Length", content, 1, gzip));
  await peer.until(() => peer.ends().has(41));
  assert.equal(ran, 1);
  assert.equal(server.counts().bufferedBytes, 0);
});

test("counts empty messages with their memory", async () => {
  await using server = serve(
    (it) =>
      it.bidiStreaming(
        "/t.T/Deaf",
        (_messages, call) =>
          new Promise((_resolve, reject) => {
            call.signal.addEventListener("abort", () => reject(new Error("gone")));
          }),
      ),
    { limits: { maxRequestBytes: 1000, maxBufferedBytesPerConnection: 256 * KiB } },
  );
  const peer = new Peer(server);
  peer.say(peer.headers(1, "/t.T/Deaf"));
  const empties = frame(type.data, 0, 1, Buffer.alloc(16_000));
  peer.say(empties);
  assert.ok(server.counts().bufferedBytes >= 3200 * 32, `${server.counts().bufferedBytes} counted`);
  for (let index = 0; index < 4; index++) peer.say(empties);
  assert.equal(peer.ends().get(1), String(Status.RESOURCE_EXHAUSTED));
  assert.equal(server.counts().bufferedBytes, 0);
});

test("counts responses as queued during their compression", async () => {
  const answer = randomBytes(200 * KiB);
  await using server = serve((it) => it.unary("/t.T/Large", () => answer), {
    responseCompression: "accepted",
    limits: { maxQueuedBytesPerConnection: MiB },
  });
  const peer = new Peer(server, settings([4, 0x7fffffff]));
  peer.say(frame(type.windowUpdate, 0, 0, uint32(0x7fff0000 - 65_535)));
  for (let id = 1; id < 41; id += 2)
    peer.say(peer.call(id, "/t.T/Large", undefined, 0, [["grpc-accept-encoding", "gzip"]]));
  assert.ok(server.counts().queuedBytes >= MiB);
  assert.equal([...peer.ends().values()].filter((end) => end === "reset 11").length, 14);
  await peer.until(() => peer.ends().size === 20);
  assert.equal(server.counts().queuedBytes, 0);
});

test("queues and counts responses for a socket that takes no bytes", async () => {
  await using server = serve((it) =>
    it.unaryInPlace("/t.T/Sixteen", (call) => call.finish(Buffer.alloc(16_000))),
  );
  const peer = new Peer(server, settings([4, 0x7fffffff]));
  peer.say(frame(type.windowUpdate, 0, 0, uint32(0x7fff0000 - 65_535)));
  peer.socket.takes = false;
  peer.say(...Array.from({ length: 400 }, (_, index) => peer.call(index * 2 + 1, "/t.T/Sixteen")));
  assert.ok(peer.socket.writableLength < 400 * KiB, `${peer.socket.writableLength} bytes in the socket`);
  assert.ok(server.counts().queuedBytes > 5 * MiB);
  while (server.counts().queuedBytes > 0) {
    peer.socket.drain();
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(new Set(peer.ends().values()), new Set(["0"]));
  assert.equal(peer.ends().size, 400);
});

test("refuses calls on a connection that fills the server's queue, and serves a neighbour that reads", async () => {
  await using server = serve((it) => it.unary("/t.T/Large", () => Buffer.alloc(100 * KiB)), {
    limits: { maxQueuedBytes: MiB },
  });
  const greedy = new Peer(server, settings([4, 0]));
  for (let id = 1; id < 41; id += 2) greedy.say(greedy.call(id, "/t.T/Large"));
  assert.equal([...greedy.ends().values()].filter((end) => end === "reset 11").length, 9);
  const neighbour = new Peer(server, settings([4, MiB]));
  neighbour.say(frame(type.windowUpdate, 0, 0, uint32(MiB)), neighbour.call(1, "/t.T/Large"));
  assert.equal(neighbour.ends().get(1), "0");
  greedy.socket.destroy();
  assert.equal(server.counts().queuedBytes, 0);
});

test("small responses for a socket that takes no bytes need little more memory than their bytes", async () => {
  await using server = serve((it) =>
    it.unary("/t.T/Later", async (bytes) => {
      await new Promise((resolve) => setImmediate(resolve));
      return bytes;
    }),
  );
  const peer = new Peer(server, settings([4, 0x7fffffff]));
  const kept = new Set<ArrayBufferLike>();
  peer.socket.takes = false;
  const write = peer.socket.write.bind(peer.socket);
  peer.socket.write = (bytes) => {
    kept.add(bytes.buffer);
    return write(bytes);
  };
  // One answer in each turn of the event loop, so that each is a write of its own.
  for (let id = 1; id < 2001; id += 2) {
    peer.say(peer.call(id, "/t.T/Later", Buffer.alloc(20)));
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(peer.socket.writableLength > 50 * KiB, "the answers wait in the socket");
  const bytes = [...kept].reduce((sum, { byteLength }) => sum + byteLength, 0);
  assert.ok(bytes < 4 * peer.socket.writableLength, `${bytes} bytes kept for ${peer.socket.writableLength}`);
});
