/** Answers that wait for a peer's window: bounded for every kind of method, and sent as soon as there is room. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { GrpcServer, type ServerOptions } from "../src/index.ts";
import { callFields, frame, message, RawClient, settings, type, uint32 } from "./support/raw-client.ts";

const KiB = 1024;
const MiB = 1024 * KiB;
const ANSWER = 100 * KiB;
const ENHANCE_YOUR_CALM = 11;

async function start(options: ServerOptions) {
  const gate = Promise.withResolvers<void>();
  const server = new GrpcServer(options)
    .unary("/t.T/Unary", () => {
      return new Uint8Array(ANSWER);
    })
    .unaryInPlace("/t.T/InPlace", (call) => {
      call.reserve(ANSWER);
      call.commit(ANSWER);
    })
    .unary("/t.T/Gated", async () => {
      await gate.promise;
      return new Uint8Array(ANSWER);
    })
    .serverStreaming("/t.T/Stream", async function* () {
      yield new Uint8Array(ANSWER);
    })
    .bidiStreaming("/t.T/Each", async function* (messages) {
      for await (const _message of messages) {
        yield new Uint8Array(ANSWER);
      }
    })
    .serverStreaming("/t.T/Impatient", async (_message, call) => {
      for (let index = 0; index < 50; index++) call.write(new Uint8Array(ANSWER)).catch(() => {});
    });
  const bound = await server.listen({ port: 0 });
  return {
    server,
    gate,
    port: bound.kind === "tcp" ? bound.port : 0,
    [Symbol.asyncDispose]: () => server.close(),
  };
}

describe("the limits apply to calls whose DATA follows their HEADERS, with a window of 0", () => {
  for (const method of ["Unary", "InPlace", "Gated", "Stream", "Each"]) {
    test(`${method}: one connection`, async () => {
      const limit = MiB;
      await using it = await start({ limits: { maxQueuedBytesPerConnection: limit } });
      const client = await RawClient.open({ port: it.port }, settings([4, 0]));
      const ids = Array.from({ length: 100 }, (_, index) => index * 2 + 1);
      client.send(...ids.map((id) => client.headers(id, callFields(`/t.T/${method}`))));
      client.send(...ids.map((id) => frame(type.data, 1, id, message(""))));
      client.send(frame(type.ping, 0, 0, Buffer.alloc(8)));
      await client.frame(type.ping);
      it.gate.resolve();
      const resets = () => client.frames.filter((each) => each.type === type.reset);
      await client.until(() => resets().length >= 89);
      const { queuedBytes } = it.server.counts();
      assert.ok(queuedBytes <= limit + ANSWER + KiB, `${queuedBytes} bytes wait`);
      assert.ok(queuedBytes >= limit - ANSWER, `${queuedBytes} bytes wait`);
      for (const { payload } of resets()) assert.equal(payload.readUInt32BE(), ENHANCE_YOUR_CALM);
      assert.equal(resets().length, 89);
      // Those that were accepted are answered once there is room.
      client.send(frame(type.windowUpdate, 0, 0, uint32(64 * MiB)), settings([4, MiB]));
      const accepted = ids.filter((id) => !resets().some((each) => each.id === id));
      for (const id of accepted) assert.equal((await client.answer(id)).messages[0]!.length, ANSWER);
      assert.equal(it.server.counts().queuedBytes, 0);
      client.close();
    });
  }

  for (const method of ["Unary", "Each"]) {
    test(`${method}: many connections share the server's limit`, async () => {
      const limit = 2 * MiB;
      await using it = await start({ limits: { maxQueuedBytes: limit } });
      const clients = await Promise.all(
        Array.from({ length: 10 }, () => RawClient.open({ port: it.port }, settings([4, 0]))),
      );
      const ids = Array.from({ length: 20 }, (_, index) => index * 2 + 1);
      for (const client of clients) {
        client.send(...ids.map((id) => client.headers(id, callFields(`/t.T/${method}`))));
        client.send(frame(type.ping, 0, 0, Buffer.alloc(8)));
        await client.frame(type.ping);
      }
      for (const client of clients) client.send(...ids.map((id) => frame(type.data, 1, id, message(""))));
      const resets = () => clients.flatMap(({ frames }) => frames.filter((each) => each.type === type.reset));
      // A connection on which nothing waits may queue one answer above the limit.
      const most = limit + clients.length * (ANSWER + KiB);
      const least = clients.length * ids.length - Math.ceil(most / ANSWER);
      while (resets().length < least) await new Promise((resolve) => setImmediate(resolve));
      const { queuedBytes } = it.server.counts();
      assert.ok(queuedBytes <= most, `${queuedBytes} bytes wait`);
      for (const client of clients) client.close();
    });
  }

  test("stops a handler that writes without waiting at the limit", async () => {
    const limit = MiB;
    await using it = await start({ limits: { maxQueuedBytesPerConnection: limit } });
    const client = await RawClient.open({ port: it.port }, settings([4, 0]));
    client.send(client.call(1, "/t.T/Impatient"));
    assert.equal((await client.answer(1)).reset, ENHANCE_YOUR_CALM);
    assert.equal(it.server.counts().queuedBytes, 0);
    client.close();
  });
});

describe("sends a whole response above 256 KiB to a peer with a large window", () => {
  const LARGE = 3 * MiB;
  for (const [what, later] of [
    ["at once", false],
    ["later", true],
  ] as const) {
    for (const calls of [1, 3]) {
      test(`in place, ${what}, ${calls} calls`, async () => {
        const server = new GrpcServer().unaryInPlace("/t.T/Large", (call) => {
          const answer = () => {
            call.reserve(LARGE);
            call.commit(LARGE);
          };
          if (later) setImmediate(answer);
          else answer();
        });
        const bound = await server.listen({ port: 0 });
        const client = await RawClient.open(
          { port: bound.kind === "tcp" ? bound.port : 0 },
          settings([4, 0x7fffffff]),
        );
        client.send(frame(type.windowUpdate, 0, 0, uint32(0x7fff0000 - 65_535)));
        for (let id = 1; id < calls * 2; id += 2) client.send(client.call(id, "/t.T/Large"));
        for (let id = 1; id < calls * 2; id += 2)
          assert.equal((await client.answer(id)).messages[0]!.length, LARGE);
        client.close();
        await server.close();
      });
    }
  }
});
