/** Drain, age, idleness, keepalive, ping enforcement, connection limits. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { GrpcServer, type UnaryCall } from "../src/index.ts";
import { frame, preface, RawClient, settings, settingsAck, type, uint32 } from "./support/raw-client.ts";
import { TestServer } from "./support/servers.ts";

const MAX_ID = 0x7fffffff;
const pings = (client: RawClient) =>
  client.frames.filter((each) => each.type === type.ping && each.flags === 0);
const goaways = (client: RawClient) => client.frames.filter((each) => each.type === type.goaway);
const lastIds = (client: RawClient) => goaways(client).map(({ payload }) => payload.readUInt32BE());

/** A server whose calls of /t.T/Hold are answered when the test says so. */
async function holding(options = {}) {
  const held: UnaryCall[] = [];
  const server = new GrpcServer(options)
    .unaryInPlace("/t.T/Hold", (call) => {
      held.push(call);
    })
    .unary("/t.T/Echo", (message) => message);
  const bound = await server.listen({ port: 0 });
  const port = bound.kind === "tcp" ? bound.port : 0;
  return { server, held, port, [Symbol.asyncDispose]: () => server.close() };
}

test("releaseConnections: the newest connections get GOAWAY, finish their calls and close; the others stay", async () => {
  await using it = await holding();
  const clients: RawClient[] = [];
  for (let one = 0; one < 3; one++) {
    const client = await RawClient.open({ port: it.port });
    client.send(client.call(1, "/t.T/Echo"));
    await client.answer(1);
    clients.push(client);
  }
  const [oldest, , newest] = clients as [RawClient, RawClient, RawClient];
  newest.send(newest.call(3, "/t.T/Hold"));
  while (it.held.length === 0) await new Promise(setImmediate);
  assert.equal(it.server.servingConnections, 3);
  assert.equal(it.server.releaseConnections(1), 1);
  assert.equal(it.server.servingConnections, 2);
  await newest.until(() => pings(newest).length === 1);
  newest.send(frame(type.ping, 1, 0, pings(newest)[0]!.payload));
  await newest.until(() => goaways(newest).length === 2);
  it.held[0]!.reserve(1);
  it.held[0]!.commit(0);
  await newest.answer(3);
  await newest.closed();
  oldest.send(oldest.call(3, "/t.T/Echo"));
  await oldest.answer(3);
  assert.deepEqual(clients.slice(0, 2).flatMap(goaways), []);
  assert.equal(it.server.releaseConnections(5), 2, "all that are left");
  assert.equal(it.server.servingConnections, 0);
});

test("drain: sends GOAWAY in two steps, and completes all calls before the second", async () => {
  await using it = await holding();
  const client = await RawClient.open({ port: it.port });
  client.send(client.call(1, "/t.T/Hold"), client.call(3, "/t.T/Echo"));
  await client.answer(3);
  const drained = it.server.drain();
  await client.until(() => pings(client).length === 1);
  assert.deepEqual(lastIds(client), [MAX_ID]);
  // Sent before the client knew: still served.
  client.send(client.call(5, "/t.T/Echo", "late"));
  assert.deepEqual((await client.answer(5)).messages.map(String), ["late"]);
  client.send(frame(type.ping, 1, 0, pings(client)[0]!.payload));
  await client.until(() => goaways(client).length === 2);
  assert.deepEqual(lastIds(client), [MAX_ID, 5]);
  client.send(client.call(7, "/t.T/Echo", "too late"));
  it.held[0]!.finish(Buffer.from("held"));
  assert.deepEqual((await client.answer(1)).messages.map(String), ["held"]);
  await client.closed();
  await drained;
  assert.equal(
    client.frames.some(({ id }) => id === 7),
    false,
  );
  assert.equal(it.server.counts().connections, 0);
});

test("drain: ends an idle connection after the response to its ping, or after a short wait", async () => {
  await using it = await holding();
  const polite = await RawClient.open({ port: it.port });
  const mute = await RawClient.open({ port: it.port });
  await Promise.all([polite.frame(type.settings), mute.frame(type.settings)]);
  const drained = it.server.drain();
  await polite.until(() => pings(polite).length === 1);
  polite.send(frame(type.ping, 1, 0, pings(polite)[0]!.payload));
  await polite.closed();
  await mute.closed();
  assert.deepEqual(lastIds(mute), [MAX_ID, 0]);
  await drained;
});

test("drain: refuses new connections, and closes connections with calls that take too long", async () => {
  await using it = await holding();
  const client = await RawClient.open({ port: it.port });
  client.send(client.call(1, "/t.T/Hold"), client.call(3, "/t.T/Echo"));
  await client.answer(3);
  const drained = it.server.drain({ timeoutMs: 50 });
  const late = connect({ port: it.port });
  await assert.rejects(once(late, "connect"), { code: "ECONNREFUSED" });
  await drained;
  assert.equal(it.held[0]!.cancelled, true);
  await client.closed();
});

test("age: starts a graceful shutdown of the connection", async () => {
  await using it = await holding({ connection: { maxConnectionAgeMs: 80 } });
  const client = await RawClient.open({ port: it.port });
  client.send(client.call(1, "/t.T/Hold"));
  await client.until(() => pings(client).length === 1);
  assert.deepEqual(lastIds(client), [MAX_ID]);
  client.send(frame(type.ping, 1, 0, pings(client)[0]!.payload));
  await client.until(() => goaways(client).length === 2);
  it.held[0]!.finish(Buffer.from("ok"));
  assert.deepEqual((await client.answer(1)).messages.map(String), ["ok"]);
  await client.closed();
  // The server goes on.
  const next = await RawClient.open({ port: it.port });
  next.send(next.call(1, "/t.T/Echo", "next"));
  assert.deepEqual((await next.answer(1)).messages.map(String), ["next"]);
  next.close();
});

test("age: closes the connection after the grace time", async () => {
  await using it = await holding({ connection: { maxConnectionAgeMs: 60, maxConnectionAgeGraceMs: 60 } });
  const client = await RawClient.open({ port: it.port });
  client.send(client.call(1, "/t.T/Hold"));
  await client.closed();
  assert.equal(it.held[0]!.cancelled, true);
  assert.equal(lastIds(client)[0], MAX_ID);
});

test("idle time: closes only connections without calls", async () => {
  await using it = await holding({ connection: { maxConnectionIdleMs: 60 } });
  const busy = await RawClient.open({ port: it.port });
  busy.send(busy.call(1, "/t.T/Hold"));
  const idle = await RawClient.open({ port: it.port });
  idle.send(idle.call(1, "/t.T/Echo"));
  await idle.answer(1);
  await idle.frame(type.goaway);
  assert.equal(goaways(busy).length, 0);
  it.held[0]!.finish(Buffer.alloc(0));
  await busy.frame(type.goaway);
  idle.close();
  busy.close();
});

test("keepalive: pings a silent peer, and closes its connection without a response", async () => {
  await using it = await holding({ connection: { keepaliveTimeMs: 50, keepaliveTimeoutMs: 100 } });
  const alive = await RawClient.open({ port: it.port });
  const dead = await RawClient.open({ port: it.port });
  let answered = 0;
  alive.socket.on("data", () => {
    for (; answered < pings(alive).length; answered++)
      alive.send(frame(type.ping, 1, 0, pings(alive)[answered]!.payload));
  });
  await dead.closed();
  assert.equal(pings(dead).length, 1);
  await alive.until(() => pings(alive).length >= 4);
  assert.equal(alive.isClosed, false);
  alive.close();
});

test("ping enforcement: too many pings without calls end the connection with too_many_pings", async () => {
  await using server = await TestServer.start();
  const client = await RawClient.open({ port: server.port });
  for (let index = 0; index < 4; index++) client.send(frame(type.ping, 0, 0, Buffer.alloc(8, index)));
  const { code, text } = await client.goaway();
  assert.deepEqual([code, text], [11, "too_many_pings"]);
  await client.closed();
});

test("ping enforcement: allows the pings of bandwidth estimators between calls", async () => {
  await using server = await TestServer.start();
  const client = await RawClient.open({ port: server.port });
  for (let index = 0; index < 20; index++) {
    const id = index * 2 + 1;
    client.send(client.call(id, "/test.Echo/Simple"), frame(type.ping, 0, 0, Buffer.alloc(8, index)));
    await client.answer(id);
  }
  await client.until(() => client.frames.filter((each) => each.type === type.ping).length === 20);
  assert.equal(goaways(client).length, 0);
  client.close();
});

test("ping enforcement: allows the pings of bandwidth estimators during a long response", async () => {
  await using server = await TestServer.start();
  const client = await RawClient.open({ port: server.port });
  client.send(client.call(1, "/test.Echo/Large", uint32(500_000)));
  for (let seen = 0; seen < 500_005 && !client.isClosed; ) {
    await client.until(() => client.answerBytes(1) > seen);
    seen = client.answerBytes(1);
    const more = uint32(50_000);
    client.send(
      frame(type.ping, 0, 0, Buffer.alloc(8)),
      frame(type.windowUpdate, 0, 0, more),
      frame(type.windowUpdate, 0, 1, more),
    );
  }
  assert.equal(goaways(client).length, 0);
  assert.equal((await client.answer(1)).messages[0]?.length, 500_000);
  client.close();
});

test("closes a connection without SETTINGS", async () => {
  await using server = await TestServer.start({ connection: { handshakeTimeoutMs: 60 } });
  const silent = connect({ port: server.port });
  const slow = connect({ port: server.port });
  slow.write(preface.subarray(0, 10));
  const late = connect({ port: server.port });
  late.write(preface);
  for (const socket of [silent, slow, late]) {
    socket.resume();
    socket.on("error", () => {});
  }
  await Promise.all([silent, slow, late].map((socket) => once(socket, "close")));
});

test("closes a connection after the client has closed its side", async () => {
  await using server = await TestServer.start();
  const client = await RawClient.open({ port: server.port });
  await client.frame(type.settings);
  client.socket.end();
  await client.closed();
});

test("closes and counts connections above the limit at accept", async () => {
  await using server = await TestServer.start({ limits: { maxConnections: 2 } });
  const first = await RawClient.open({ port: server.port });
  const second = await RawClient.open({ port: server.port });
  await Promise.all([first.frame(type.settings), second.frame(type.settings)]);
  const third = await RawClient.open({ port: server.port });
  await third.closed();
  const { connections, connectionsAccepted, connectionsRefused } = server.grpc.counts();
  assert.deepEqual([connections, connectionsAccepted, connectionsRefused], [2, 2, 1]);
  first.close();
  second.close();
});

test("two servers share a port with reusePort", async () => {
  await using one = await holding();
  const where = { port: 0, reusePort: true };
  const bound = await one.server.listen(where);
  const port = bound.kind === "tcp" ? bound.port : 0;
  await using two = await holding();
  await two.server.listen({ ...where, port });
  await assert.rejects(one.server.listen({ port }), { code: "EADDRINUSE" });
});

test("acknowledges SETTINGS, and sends its own from its options", async () => {
  await using server = await TestServer.start({
    limits: { maxConcurrentStreams: 7, connectionWindowBytes: 65_535 },
  });
  const client = await RawClient.open({ port: server.port }, settings([1, 0], [3, 5], [99, 1]));
  client.send(settingsAck);
  await client.until(() => client.frames.filter((each) => each.type === type.settings).length === 2);
  const [own, ack] = client.frames.filter((each) => each.type === type.settings);
  assert.equal(own!.payload.toString("hex"), "00030000000700040004000000060000" + "4000");
  assert.deepEqual([ack!.flags, ack!.payload.length], [1, 0]);
  // The table was made smaller: the first block begins by saying so (RFC 7541 section 4.2).
  client.send(client.call(1, "/test.Echo/InPlace"), client.call(3, "/test.Echo/InPlace"));
  await Promise.all([client.answer(1), client.answer(3)]);
  const blocks = client.frames.filter((each) => each.type === type.headers).map(({ payload }) => payload[0]);
  assert.deepEqual(
    blocks.map((first) => first === 0x20),
    [true, false, false, false],
  );
  client.close();
});
