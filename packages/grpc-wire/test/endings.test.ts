/** The ends of connections and servers. Complements `lifecycle.test.ts`. Some tests use fake sockets. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { link, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fakeSocket } from "../fuzz/fake-socket.ts";
import { GrpcServer, type UnaryCall } from "../src/index.ts";
import { callFields, frame, parseFrames, preface, RawClient, settings, type } from "./support/raw-client.ts";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function wired(server: GrpcServer) {
  const { fake, socket } = fakeSocket();
  server.serve(socket);
  fake.emit("data", Buffer.concat([preface, settings()]));
  return fake;
}
const kinds = (written: readonly Buffer[], kind: number) =>
  parseFrames(Buffer.concat(written)).frames.filter((each) => each.type === kind);

test("drain: a slow reader receives all its responses", async () => {
  const server = new GrpcServer({ connection: { sendTimeoutMs: 10_000 } });
  const fake = wired(server);
  fake.takes = false;
  fake.write(Buffer.alloc(1000));
  const drained = server.drain({ timeoutMs: 20_000 });
  await pause(0);
  const [ping] = kinds(fake.written.slice(0, 2), type.ping);
  fake.emit("data", frame(type.ping, 1, 0, ping?.payload ?? Buffer.from("goodbye!")));
  // Bytes trickle out for longer than a peer is given to close its side.
  for (let index = 0; index < 10; index++) {
    await pause(250);
    assert.equal(fake.destroyed, false, `cut after ${index * 250} ms with bytes on their way`);
    fake.writableLength -= 10;
  }
  fake.writableLength = 0;
  fake.destroy();
  await drained;
});

test("a time of 0 means no limit for the first SETTINGS and the response to a ping", async () => {
  const server = new GrpcServer({
    connection: { handshakeTimeoutMs: 0, keepaliveTimeMs: 40, keepaliveTimeoutMs: 0 },
  });
  const { fake: silent, socket } = fakeSocket();
  server.serve(socket);
  const mute = wired(server);
  while (kinds(mute.written, type.ping).length === 0) await pause(10);
  await pause(100);
  assert.deepEqual([silent.destroyed, mute.destroyed], [false, false]);
  await server.close();
});

test("keepalive: a slow reader counts as alive", async () => {
  const server = new GrpcServer({ connection: { keepaliveTimeMs: 30, keepaliveTimeoutMs: 50 } });
  const fake = wired(server);
  fake.takes = false;
  fake.writableLength = 100_000;
  for (let index = 0; index < 20; index++) {
    await pause(20);
    fake.writableLength -= 100;
    assert.equal(fake.destroyed, false, `given up after ${index * 20} ms`);
  }
  await server.close();
});

test("a fast reader does not count as stuck when each check finds the same number of unsent bytes", async () => {
  const server = new GrpcServer({ connection: { sendTimeoutMs: 1000 } });
  const fake = wired(server);
  for (let index = 0; index < 20; index++) {
    // The peer takes the waiting bytes, and as many new ones follow.
    fake.takes = false;
    fake.writableLength = 0;
    fake.emit("data", settings());
    fake.writableLength = 5000;
    await pause(100);
    assert.equal(fake.destroyed, false, `given up after ${index * 100} ms`);
  }
  await server.close();
});

test("ping enforcement: a ping in time removes the strike of an early one", async () => {
  const server = new GrpcServer({ connection: { minPingIntervalMs: 20, maxPingStrikes: 2 } });
  const fake = wired(server);
  const ping = frame(type.ping, 0, 0, Buffer.alloc(8));
  for (let index = 0; index < 6; index++) {
    fake.emit("data", ping);
    fake.emit("data", ping);
    await pause(25);
    fake.emit("data", ping);
    await pause(25);
  }
  assert.equal(kinds(fake.written, type.goaway).length, 0);
  await server.close();
});

test("an error during a drain is sent in a GOAWAY", async () => {
  const held: UnaryCall[] = [];
  const server = new GrpcServer().unaryInPlace("/t.T/Hold", (call) => void held.push(call));
  const { port } = (await server.listen({ port: 0 })) as { port: number };
  const client = await RawClient.open({ port });
  client.send(client.call(1, "/t.T/Hold"));
  while (held.length === 0) await pause(1);
  const drained = server.drain();
  const { payload } = await client.frame(type.ping);
  client.send(frame(type.ping, 1, 0, payload), frame(type.data, 0, 0));
  await client.closed();
  const codes = client.frames
    .filter((each) => each.type === type.goaway)
    .map((each) => each.payload.readUInt32BE(4));
  assert.deepEqual(codes, [0, 0, 1]);
  await drained;
});

test("drain: a reset of the last stream reaches the peer before the connection ends", async () => {
  const server = new GrpcServer().unary("/t.T/Echo", (message) => message);
  const { port } = (await server.listen({ port: 0 })) as { port: number };
  const client = await RawClient.open({ port });
  client.send(client.headers(1, callFields("/t.T/Echo", [["content-length", "9"]])));
  await client.frame(type.settings);
  const drained = server.drain();
  const { payload } = await client.frame(type.ping);
  client.send(frame(type.ping, 1, 0, payload), frame(type.data, 1, 1));
  await client.closed();
  const reset = client.frames.find((each) => each.type === type.reset);
  assert.deepEqual([reset?.id, reset?.payload.readUInt32BE()], [1, 1]);
  await drained;
});

test("limits values to the range of SETTINGS and timers", async () => {
  const held: UnaryCall[] = [];
  const server = new GrpcServer({
    limits: { maxHeaderListBytes: Number.POSITIVE_INFINITY, maxConcurrentStreams: 2 ** 40 },
  }).unaryInPlace("/t.T/Hold", (call) => void held.push(call));
  const fake = wired(server);
  const [own] = kinds(fake.written, type.settings);
  assert.equal(own!.payload.readUInt32BE(2), 0xffffffff);
  assert.equal(own!.payload.readUInt32BE(14), 0xffffffff);
  const { port } = (await server.listen({ port: 0 })) as { port: number };
  const client = await RawClient.open({ port });
  client.send(client.call(1, "/t.T/Hold"));
  while (held.length === 0) await pause(1);
  const drained = server.drain({ timeoutMs: Number.POSITIVE_INFINITY });
  await pause(50);
  held[0]!.finish(Buffer.from("done"));
  assert.deepEqual((await client.answer(1)).messages.map(String), ["done"]);
  fake.destroy();
  await drained;
});

test("listen rejects on a used port, during close and after close", async () => {
  const server = new GrpcServer();
  const { port } = (await server.listen({ port: 0 })) as { port: number };
  await assert.rejects(server.listen({ port }), { code: "EADDRINUSE" });
  await server.listen({ port: 0 });
  await server.close();
  await assert.rejects(server.listen({ port: 0 }), /closed/);
  const hasty = new GrpcServer();
  const listening = hasty.listen({ port: 0 });
  await hasty.close();
  await assert.rejects(listening, /closed/);
});

test("onDrain listeners that throw do not stop the drain", async () => {
  const told: unknown[] = [];
  const server = new GrpcServer({ onHandlerError: (error) => void told.push(error) });
  const fault = new Error("listener");
  server.onDrain(() => {
    throw fault;
  });
  await server.listen({ port: 0 });
  await server.drain();
  assert.deepEqual(told, [fault]);
});

test("replaces a stale unix socket, but no other socket or file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "grpc-wire-"));
  try {
    const path = join(folder, "grpc.sock");
    const served = new GrpcServer();
    await served.listen({ path });
    const second = new GrpcServer();
    await assert.rejects(second.listen({ path }), { code: "EADDRINUSE" });
    await once(connect({ path }), "connect");
    await served.close();
    // As a process that is killed leaves it.
    const stale = createServer();
    await new Promise<void>((resolve) => stale.listen(join(folder, "other.sock"), resolve));
    await link(join(folder, "other.sock"), path);
    await new Promise((resolve) => stale.close(resolve));
    assert.ok((await stat(path)).isSocket());
    await second.listen({ path });
    const client = await RawClient.open({ path });
    await client.frame(type.settings);
    client.close();
    await second.close();
    const file = join(folder, "file");
    await writeFile(file, "precious");
    await assert.rejects(new GrpcServer().listen({ path: file }), { code: "EADDRINUSE" });
    assert.ok((await stat(file)).isFile());
    assert.deepEqual(await readdir(folder), ["file"]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

const unusable: [what: string, spoil: (socket: Socket, peer: Socket) => Promise<unknown> | undefined][] = [
  ["destroyed", (socket) => void socket.destroy()],
  [
    "closed",
    (socket) => {
      socket.destroy();
      return once(socket, "close");
    },
  ],
  [
    "reset by its peer",
    (socket, peer) => {
      socket.on("error", () => {});
      peer.resetAndDestroy();
      return new Promise((resolve) => socket.resume().once("close", resolve));
    },
  ],
  [
    "read to its end",
    (socket, peer) => {
      peer.end();
      return once(socket.resume(), "end");
    },
  ],
  ["ended by this side", (socket) => void socket.end()],
];
for (const [what, spoil] of unusable) {
  for (const way of ["close", "drain"] as const) {
    test(`${way} does not wait for a socket that was ${what} before serve`, async () => {
      const listener = createServer({ allowHalfOpen: true }).listen(0);
      await once(listener, "listening");
      const accepted = once(listener, "connection") as Promise<[Socket]>;
      const peer = connect({ port: (listener.address() as { port: number }).port });
      peer.on("error", () => {});
      const [socket] = await accepted;
      await spoil(socket, peer);
      const server = new GrpcServer({ connection: { handshakeTimeoutMs: 0 } });
      server.serve(socket);
      const { connections, connectionsAccepted, connectionsRefused } = server.counts();
      assert.deepEqual([connections, connectionsAccepted, connectionsRefused], [0, 0, 1]);
      await server[way]();
      assert.equal(socket.destroyed, true);
      peer.destroy();
      listener.close();
    });
  }
}
