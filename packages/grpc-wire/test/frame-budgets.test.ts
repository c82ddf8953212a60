/** Frames that ask for no work are charged to a budget; a peer that uses it up gets GOAWAY with ENHANCE_YOUR_CALM. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { GrpcServer, UnaryCall } from "../src/index.ts";
import { flood } from "./support/fortress.ts";
import {
  callFields,
  frame,
  message,
  RawClient,
  settings,
  settingsAck,
  type,
  uint32,
} from "./support/raw-client.ts";
import { serve } from "./support/servers.ts";

const limits = { idleFrameBurst: 100, idleFramesPerSecond: 0 };
const ENHANCE_YOUR_CALM = 11;

const register = (held: UnaryCall[]) => (server: GrpcServer) =>
  server
    .unary("/t.T/Echo", (bytes) => bytes)
    .unaryInPlace("/t.T/Hold", (call) => void held.push(call))
    .serverStreaming("/t.T/Repeat", async function* (bytes) {
      for (let index = 0; index < 300; index++) yield bytes;
    });

/** Opens stream 1 and makes the server reset it. */
function resetByServer(client: RawClient): Buffer {
  return Buffer.concat([
    client.headers(1, callFields("/t.T/Hold")),
    frame(type.windowUpdate, 0, 1, uint32(0)),
  ]);
}

const floods: [
  what: string,
  text: RegExp,
  first: (client: RawClient) => Buffer,
  one: (client: RawClient) => Buffer,
][] = [
  [
    "WINDOW_UPDATE on the connection",
    /WINDOW_UPDATE/,
    () => settingsAck,
    () => frame(type.windowUpdate, 0, 0, uint32(1)),
  ],
  [
    "WINDOW_UPDATE on an open stream",
    /WINDOW_UPDATE/,
    (client) => client.headers(1, callFields("/t.T/Hold")),
    () => frame(type.windowUpdate, 0, 1, uint32(1)),
  ],
  [
    "WINDOW_UPDATE on a closed stream",
    /WINDOW_UPDATE/,
    (client) => client.call(1, "/t.T/Echo"),
    () => frame(type.windowUpdate, 0, 1, uint32(1)),
  ],
  [
    "DATA on a stream that the server reset",
    /closed stream/,
    resetByServer,
    () => frame(type.data, 0, 1, Buffer.alloc(1)),
  ],
  [
    "DATA that ends a stream that the server reset",
    /closed stream/,
    resetByServer,
    () => frame(type.data, 1, 1, Buffer.alloc(1)),
  ],
  [
    "HEADERS on a stream that the server reset",
    /closed stream/,
    resetByServer,
    (client) => client.headers(1, [["x", "y"]], 0x5),
  ],
];

for (const [what, text, first, one] of floods) {
  test(`${what}: too many end the connection`, async () => {
    await using it = await serve(register([]), { limits });
    it.client.send(first(it.client));
    for (let index = 0; index < 100; index++) it.client.send(one(it.client));
    it.client.send(frame(type.ping, 0, 0, Buffer.alloc(8)));
    await flood(it.client.socket, Buffer.concat(Array.from({ length: 200 }, () => one(it.client))), 5);
    const goaway = await it.client.goaway();
    assert.equal(goaway.code, ENHANCE_YOUR_CALM, goaway.text);
    assert.match(goaway.text, text);
    await it.client.closed();
  });
}

const late: [what: string, one: (client: RawClient) => Buffer][] = [
  ["HEADERS", (client) => client.headers(101, [["x", "y"]])],
  ["DATA", () => frame(type.data, 0, 101, Buffer.alloc(1))],
  ["RST_STREAM", () => frame(type.reset, 0, 101, uint32(8))],
];
for (const [what, one] of late) {
  test(`${what} above the last stream of a GOAWAY: too many end the connection`, async () => {
    const held: UnaryCall[] = [];
    await using it = await serve(register(held), { limits });
    const { client } = it;
    client.send(client.call(1, "/t.T/Hold"), client.call(3, "/t.T/Echo"));
    await client.answer(3);
    const drained = it.server.drain();
    client.send(frame(type.ping, 1, 0, (await client.frame(type.ping)).payload));
    const goaways = () => client.frames.filter((each) => each.type === type.goaway);
    await client.until(() => goaways().length === 2);
    await flood(client.socket, Buffer.concat(Array.from({ length: 200 }, () => one(client))), 5);
    await client.closed();
    assert.equal(goaways().at(-1)!.payload.readUInt32BE(4), ENHANCE_YOUR_CALM);
    await drained;
  });
}

test("two WINDOW_UPDATE frames for each DATA frame stay within the budget", async () => {
  await using it = await serve(register([]), { limits: { idleFrameBurst: 10, idleFramesPerSecond: 0 } });
  const { client } = it;
  const content = Buffer.alloc(4000);
  let returned = 0;
  client.socket.on("data", () => {
    const own = client.frames.filter((each) => each.type === type.data);
    for (; returned < own.length; returned++) {
      const size = uint32(own[returned]!.payload.length);
      client.send(frame(type.windowUpdate, 0, 0, size), frame(type.windowUpdate, 0, own[returned]!.id, size));
    }
  });
  client.send(client.call(1, "/t.T/Repeat", content));
  assert.equal((await client.answer(1)).messages.length, 300);
  for (let id = 3; id < 200; id += 2) {
    client.send(client.call(id, "/t.T/Echo", content));
    await client.answer(id);
  }
  assert.equal(client.frames.filter((each) => each.type === type.goaway).length, 0);
});

test("frames in flight on a refused stream stay within the budget", async () => {
  await using it = await serve(register([]), { limits: { idleFrameBurst: 10, idleFramesPerSecond: 0 } });
  const { client } = it;
  // The server answers the headers with UNIMPLEMENTED and resets the stream; the message comes later.
  for (let id = 1; id < 400; id += 2) {
    client.send(client.headers(id, callFields("/t.T/Unknown")));
    await client.answer(id);
    client.send(frame(type.data, 1, id, message("late")));
  }
  client.send(client.call(401, "/t.T/Echo", "on"));
  assert.deepEqual((await client.answer(401)).messages.map(String), ["on"]);
});

test("serves a reader with a window of one byte", async () => {
  await using it = await serve(register([]), { limits });
  const { client } = it;
  const tiny = await RawClient.open({ port: client.socket.remotePort! }, settings([4, 1]));
  tiny.send(tiny.call(1, "/t.T/Echo", "x".repeat(400)));
  for (let bytes = 1; bytes < 405; bytes++) {
    await tiny.until(() => tiny.answerBytes(1) === bytes);
    tiny.send(frame(type.windowUpdate, 0, 1, uint32(1)));
  }
  assert.equal((await tiny.answer(1)).messages[0]!.length, 400);
  tiny.close();
});
