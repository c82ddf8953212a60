/** Invalid requests and faulty handlers: the errors that each side gets. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Status } from "../src/index.ts";
import { callFields, type Fields, frame, message, type RawClient, type } from "./support/raw-client.ts";
import { serve } from "./support/servers.ts";

/** The five octets of a priority: depends on `id`, weight 16. RFC 7540 section 6.3 */
const priority = (id: number) => Buffer.from([0, 0, 0, id, 15]);

const prefixOnly = message("abc").subarray(0, 5);

test("a request that ends after a message's prefix is incomplete", async () => {
  let ended: unknown;
  await using it = await serve((server) =>
    server
      .unary("/t.T/Unary", (bytes) => bytes)
      .bidiStreaming("/t.T/Each", async function* (messages) {
        try {
          for await (const each of messages) yield each;
          ended = "cleanly";
        } catch (error) {
          ended = error;
          throw error;
        }
      }),
  );
  for (const [index, path] of ["/t.T/Unary", "/t.T/Each"].entries()) {
    const id = index * 2 + 1;
    it.client.send(it.client.headers(id, callFields(path)), frame(type.data, 1, id, prefixOnly));
    const { fields } = await it.client.answer(id);
    assert.equal(fields.get("grpc-status"), String(Status.INTERNAL), path);
    assert.match(fields.get("grpc-message")!, /within a message/);
  }
  assert.ok(ended instanceof Error);
});

const mismatches: [what: string, more: Fields, flags: number, parts: (id: number) => Buffer[]][] = [
  ["a length and no DATA", [["content-length", "5"]], 0x5, () => []],
  ["more than the length", [["content-length", "5"]], 0x4, (id) => [frame(type.data, 1, id, message("a"))]],
  [
    "less than the length, then trailers",
    [["content-length", "50"]],
    0x4,
    (id) => [frame(type.data, 0, id, message("a")), frame(type.headers, 5, id)],
  ],
];
for (const [what, more, flags, parts] of mismatches) {
  test(`content-length: ${what} is a stream error`, async () => {
    await using it = await serve((server) => server.unary("/t.T/Unary", (bytes) => bytes));
    it.client.send(it.client.headers(1, callFields("/t.T/Unary", more), flags), ...parts(1));
    assert.equal((await it.client.answer(1)).reset, 1);
    it.client.send(it.client.call(3, "/t.T/Unary", "on"));
    assert.deepEqual((await it.client.answer(3)).messages.map(String), ["on"]);
  });
}

const onItself: [what: string, frames: (client: RawClient, id: number) => Buffer][] = [
  ["PRIORITY", (_, id) => frame(type.priority, 0, id, priority(id))],
  [
    "HEADERS with a priority",
    (client, id) =>
      frame(
        type.headers,
        0x25,
        id,
        Buffer.concat([priority(id), client.headers(id, callFields("/t.T/Unary")).subarray(9)]),
      ),
  ],
];
for (const [what, frames] of onItself) {
  test(`${what}: a stream that depends on itself is a stream error`, async () => {
    await using it = await serve((server) => server.unary("/t.T/Unary", (bytes) => bytes));
    it.client.send(frames(it.client, 1));
    assert.equal((await it.client.answer(1)).reset, 1);
    it.client.send(frame(type.priority, 0, 3, priority(1)), it.client.call(3, "/t.T/Unary", "on"));
    assert.deepEqual((await it.client.answer(3)).messages.map(String), ["on"]);
  });
}

test("expect: 100-continue gets no interim response", async () => {
  await using it = await serve((server) => server.unary("/t.T/Unary", (bytes) => bytes));
  it.client.send(it.client.call(1, "/t.T/Unary", "on", [["expect", "100-continue"]]));
  const { fields, messages } = await it.client.answer(1);
  assert.equal(fields.get(":status"), "200");
  assert.deepEqual(messages.map(String), ["on"]);
});

test("CONNECT requires :authority without :scheme and :path", async () => {
  await using it = await serve(() => {});
  it.client.send(
    it.client.headers(
      1,
      [
        [":method", "CONNECT"],
        [":authority", "a:1"],
      ],
      5,
    ),
    it.client.headers(3, [[":method", "CONNECT"]], 5),
    it.client.headers(
      5,
      [
        [":method", "CONNECT"],
        [":authority", "a:1"],
        [":scheme", "http"],
        [":path", "/"],
      ],
      5,
    ),
  );
  assert.equal((await it.client.answer(1)).fields.get(":status"), "415");
  assert.equal((await it.client.answer(3)).reset, 1);
  assert.equal((await it.client.answer(5)).reset, 1);
});

test("a streaming handler gets an error when invalid bytes end its call", async () => {
  const aborted = Promise.withResolvers<boolean>();
  await using it = await serve((server) =>
    server.bidiStreaming("/t.T/Waits", async (_messages, call) => {
      if (!call.signal.aborted) await once(call.signal, "abort");
      aborted.resolve(call.cancelled);
    }),
  );
  it.client.send(
    it.client.headers(1, callFields("/t.T/Waits")),
    frame(type.data, 0, 1, Buffer.from("ff00000000", "hex")),
  );
  assert.equal((await it.client.answer(1)).fields.get("grpc-status"), String(Status.INTERNAL));
  assert.equal(await aborted.promise, true);
});

test("an async in-place handler that rejects fails its own call only", async () => {
  const told: unknown[] = [];
  const fault = new Error("later");
  await using it = await serve(
    (server) =>
      server.unaryInPlace("/t.T/Async", async (call) => {
        await new Promise((resolve) => setImmediate(resolve));
        if (call.metadata("x-fails") !== undefined) throw fault;
        call.finish(Buffer.from("well"));
      }),
    { onHandlerError: (error) => told.push(error) },
  );
  it.client.send(
    it.client.call(1, "/t.T/Async", "", [["x-fails", "1"]]),
    it.client.call(3, "/t.T/Async", ""),
  );
  assert.equal((await it.client.answer(1)).fields.get("grpc-status"), String(Status.UNKNOWN));
  assert.deepEqual((await it.client.answer(3)).messages.map(String), ["well"]);
  assert.deepEqual(told, [fault]);
});

test("the observer sees the start and the end of calls that fail before their message", async () => {
  const seen: string[] = [];
  await using it = await serve((server) => server.unary("/t.T/Unary", (bytes) => bytes), {
    observer: {
      callStarted: (path) => void seen.push(`+${path}`),
      callFinished: (path, status) => void seen.push(`-${path} ${status}`),
    },
  });
  it.client.send(it.client.call(1, "/t.T/Unary", "", [["grpc-timeout", "soon"]]));
  await it.client.answer(1);
  it.client.send(it.client.call(3, "/t.T/Unary", "", [["grpc-encoding", "br"]]));
  await it.client.answer(3);
  assert.deepEqual(seen, ["+/t.T/Unary", "-/t.T/Unary 13", "+/t.T/Unary", "-/t.T/Unary 12"]);
});

test("rejects metadata that HTTP/2 forbids", async () => {
  const refused: string[] = [];
  const names = ["transfer-encoding", "keep-alive", "proxy-connection", "upgrade", "connection", "x-a\r\nb"];
  await using it = await serve((server) =>
    server.unary("/t.T/Meta", (bytes, call) => {
      for (const name of names) {
        try {
          call.setTrailingMetadata(name, "1");
        } catch {
          refused.push(name);
        }
      }
      for (const value of ["a\r\nb", "a\n", "a\0", "ä", " a"])
        assert.throws(() => call.setInitialMetadata("x-value", value), TypeError);
      return bytes;
    }),
  );
  it.client.send(it.client.call(1, "/t.T/Meta"));
  assert.equal((await it.client.answer(1)).fields.get("grpc-status"), "0");
  assert.deepEqual(refused, names);
});

test("the caller's address is known after its connection has closed", async () => {
  const peers: string[] = [];
  const gone = Promise.withResolvers<void>();
  await using it = await serve((server) =>
    server.unary("/t.T/Peer", async (bytes, call) => {
      peers.push(call.peer);
      await once(call.signal, "abort");
      peers.push(call.peer);
      gone.resolve();
      return bytes;
    }),
  );
  const { localPort } = it.client.socket;
  it.client.send(it.client.call(1, "/t.T/Peer"));
  while (peers.length === 0) await new Promise((resolve) => setImmediate(resolve));
  it.client.close();
  await gone.promise;
  assert.deepEqual(peers, [`127.0.0.1:${localPort}`, `127.0.0.1:${localPort}`]);
});
