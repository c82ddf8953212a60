/** The HTTP/2 layer alone: it emits headers, data, end and reset, and knows nothing of gRPC. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startHttp2Server } from "../conformance/http2-server.ts";
import { ErrorCode } from "../src/frames/constants.ts";
import { encodeHeaders } from "../src/hpack/encoder.ts";
import type { ServerStream } from "../src/http2/interface.ts";
import { type Fields, frame, RawClient, type, uint32 } from "./support/raw-client.ts";

const request: Fields = [
  [":method", "PUT"],
  [":scheme", "http"],
  [":path", "/any/path?query"],
];

/** A server that notes all events, and a client of it. */
async function noting() {
  const events: string[] = [];
  const streams: ServerStream[] = [];
  const { server, port } = await startHttp2Server({
    onReadBegin() {},
    onReadEnd() {},
    onRequest(stream, { method, path }, ended) {
      streams.push(stream);
      events.push(`headers ${stream.id} ${method} ${path}${ended ? " end" : ""}`);
      stream.attach({
        onData: (bytes, start, end, isLast) =>
          events.push(`data ${stream.id} ${bytes.toString("latin1", start, end)}${isLast ? " end" : ""}`),
        onEnd: () => events.push(`end ${stream.id}`),
        onReset: () => events.push(`reset ${stream.id}`),
        onSweep() {},
      });
    },
  });
  const client = await RawClient.open({ port });
  const settled = async (count: number) => {
    while (events.length < count) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    events,
    streams,
    client,
    settled,
    [Symbol.dispose]() {
      client.close();
      server.close();
    },
  };
}

test("headers, data, end: in DATA, in an empty DATA frame, in HEADERS and in trailers", async () => {
  using it = await noting();
  const { client } = it;
  client.send(client.headers(1, request, 0x5));
  client.send(
    client.headers(3, request),
    frame(type.data, 0, 3, Buffer.from("a")),
    frame(type.data, 1, 3, Buffer.from("b")),
  );
  client.send(client.headers(5, request), frame(type.data, 0, 5, Buffer.from("c")), frame(type.data, 1, 5));
  client.send(client.headers(7, request), client.headers(7, [["x", "y"]], 0x5));
  await it.settled(8);
  assert.deepEqual(it.events, [
    "headers 1 PUT /any/path?query end",
    "headers 3 PUT /any/path?query",
    "data 3 a",
    "data 3 b end",
    "headers 5 PUT /any/path?query",
    "data 5 c end",
    "headers 7 PUT /any/path?query",
    "end 7",
  ]);
});

test("reset: by the peer, by a stream error, and by a lost connection", async () => {
  using it = await noting();
  const { client } = it;
  client.send(client.headers(1, request), frame(type.reset, 0, 1, uint32(ErrorCode.CANCEL)));
  client.send(client.headers(3, request), frame(type.windowUpdate, 0, 3, uint32(0)));
  client.send(client.headers(5, request));
  await it.settled(5);
  assert.deepEqual(it.events.slice(1), [
    "reset 1",
    "headers 3 PUT /any/path?query",
    "reset 3",
    "headers 5 PUT /any/path?query",
  ]);
  client.close();
  await it.settled(6);
  assert.equal(it.events[5], "reset 5");
});

test("a response: headers, queued content, trailers", async () => {
  using it = await noting();
  const { client } = it;
  client.send(client.headers(1, request, 0x5));
  await it.settled(1);
  const [stream] = it.streams;
  stream!.sendHeaders(encodeHeaders([[":status", "200"]]), false);
  stream!.sendData(Buffer.alloc(70_000));
  stream!.sendTrailers(encodeHeaders([["x-end", "yes"]]));
  await client.until(() => client.answerBytes(1) === 65_535);
  client.send(frame(type.windowUpdate, 0, 0, uint32(70_000)), frame(type.windowUpdate, 0, 1, uint32(70_000)));
  const { fields } = await client.answer(1);
  assert.equal(client.answerBytes(1), 70_000);
  assert.deepEqual([fields.get(":status"), fields.get("x-end")], ["200", "yes"]);
});

test("drops a response on a reset stream", async () => {
  using it = await noting();
  const { client } = it;
  client.send(client.headers(1, request), frame(type.reset, 0, 1, uint32(ErrorCode.CANCEL)));
  await it.settled(2);
  const [stream] = it.streams;
  stream!.sendHeaders(encodeHeaders([[":status", "200"]]), false);
  stream!.sendData(Buffer.alloc(10));
  stream!.sendTrailers(encodeHeaders([["x-end", "yes"]]));
  client.send(frame(type.ping, 0, 0, Buffer.alloc(8)));
  await client.frame(type.ping);
  assert.equal(client.frames.filter(({ id }) => id === 1).length, 0);
});
