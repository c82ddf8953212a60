/** Steps of the wall clock change neither limits nor timeouts: both follow the monotonic clock. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Status, type UnaryCall } from "../src/index.ts";
import { callFields, frame, message, RawClient, settings, type } from "./support/raw-client.ts";
import { serve } from "./support/servers.ts";

const HOUR = 3600e3;

/** Moves the wall clock, as `settimeofday` or NTP does. */
function step(t: TestContext, milliseconds: number): void {
  const real = Date.now;
  t.mock.method(Date, "now", () => real() + milliseconds);
}

const acks = (client: RawClient) =>
  client.frames.filter((each) => each.type === type.settings && each.flags === 1).length;
const goaways = (client: RawClient) => client.frames.filter((each) => each.type === type.goaway).length;

test("a step of -10 s does not use up a peer's frame budget", async (t) => {
  await using it = await serve(() => {}, { limits: { idleFrameBurst: 10, idleFramesPerSecond: 1e6 } });
  const { client } = it;
  await client.until(() => acks(client) === 1);
  step(t, -10_000);
  for (let sent = 2; sent <= 40; sent++) {
    client.send(settings());
    await client.until(() => acks(client) === sent);
  }
  assert.equal(goaways(client), 0);
  assert.equal(acks(client), 40);
});

test("a step of -10 s does not turn a ping into a strike", async (t) => {
  await using it = await serve(() => {}, { connection: { minPingIntervalMs: 1, maxPingStrikes: 0 } });
  const { client } = it;
  const pongs = () => client.frames.filter((each) => each.type === type.ping).length;
  for (let sent = 1; sent <= 3; sent++) {
    client.send(frame(type.ping, 0, 0, Buffer.alloc(8)));
    await client.until(() => pongs() === sent);
    step(t, -10_000 * sent);
    const until = performance.now() + 5;
    while (performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.equal(goaways(client), 0);
  assert.equal(pongs(), 3);
});

test("a step in either direction does not change the deadline of a call", async (t) => {
  const held: UnaryCall[] = [];
  await using it = await serve((server) => server.unaryInPlace("/t.T/Hold", (call) => void held.push(call)));
  const { client } = it;
  client.send(client.call(1, "/t.T/Hold", "", [["grpc-timeout", "1H"]]));
  while (held.length < 1) await new Promise((resolve) => setImmediate(resolve));
  step(t, 10 * HOUR);
  // A deadline of its own shows that deadlines were looked at since the step.
  client.send(client.call(3, "/t.T/Hold", "", [["grpc-timeout", "30m"]]));
  assert.equal((await client.answer(3)).fields.get("grpc-status"), String(Status.DEADLINE_EXCEEDED));
  assert.equal(held[0]!.cancelled, false);
  step(t, -20 * HOUR);
  client.send(client.call(5, "/t.T/Hold", "", [["grpc-timeout", "30m"]]));
  assert.equal((await client.answer(5)).fields.get("grpc-status"), String(Status.DEADLINE_EXCEEDED));
  held[0]!.finish(Buffer.from("in time"));
  assert.deepEqual((await client.answer(1)).messages.map(String), ["in time"]);
});

test("a step between a call's headers and its message does not change the remaining time", async (t) => {
  const left: number[] = [];
  await using it = await serve((server) =>
    server.unaryInPlace("/t.T/Left", (call) => {
      left.push(call.deadline - call.readAt);
      call.finish(new Uint8Array(0));
    }),
  );
  const { client } = it;
  client.send(client.headers(1, callFields("/t.T/Left", [["grpc-timeout", "1H"]])), settings());
  await client.until(() => acks(client) === 2);
  step(t, -10 * HOUR);
  client.send(frame(type.data, 1, 1, message("")));
  await client.answer(1);
  assert.ok(left[0]! > 0 && left[0]! <= HOUR, `${left[0]} ms are left of ${HOUR}`);
});

test("a step of a day ends no connection by age, idle time, keepalive or time-outs", async (t) => {
  await using it = await serve(() => {}, {
    connection: {
      maxConnectionAgeMs: HOUR,
      maxConnectionIdleMs: HOUR,
      keepaliveTimeMs: 30,
      keepaliveTimeoutMs: HOUR,
      handshakeTimeoutMs: HOUR,
    },
  });
  const { client } = it;
  const silent = await RawClient.open({ port: client.socket.remotePort! }, Buffer.alloc(0));
  const pings = () => client.frames.filter((each) => each.type === type.ping);
  await client.until(() => pings().length === 1);
  step(t, 24 * HOUR);
  for (let seen = 1; seen <= 3; seen++) {
    await client.until(() => pings().length === seen);
    client.send(frame(type.ping, 1, 0, pings().at(-1)!.payload));
  }
  assert.deepEqual([goaways(client), client.isClosed, silent.isClosed], [0, false, false]);
  silent.close();
});
