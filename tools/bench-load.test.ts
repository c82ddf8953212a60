import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { LoadConnection } from "../bench/gateway/load-connection.ts";

const MESSAGE = Buffer.from([0, 0, 0, 0, 2, 8, 1]);
const CALLS = 6;

function answer(stream: ServerHttp2Stream, parts: readonly Buffer[]): void {
  stream.respond({ ":status": 200 }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  for (const part of parts) stream.write(part);
  stream.end();
}

/** Sends calls one after the other, and returns the number of ended ones, or the first failure. */
async function send(respond: (stream: ServerHttp2Stream, call: number) => void): Promise<number | string> {
  const server = createServer();
  let calls = 0;
  server.on("stream", (stream: ServerHttp2Stream) => {
    stream.resume();
    respond(stream, calls++);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const result = Promise.withResolvers<number | string>();
  let ended = 0;
  const connection = await LoadConnection.open(
    new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    {
      path: "/service/Method",
      isTraced: false,
      messageLength: MESSAGE.length,
      trace: () => undefined,
      write: (out, at) => out.set(MESSAGE, at),
      ended: () => ended++,
      read: () => (ended === CALLS ? result.resolve(ended) : connection.send(1)),
      failed: ({ message }) => result.resolve(message),
    },
  );
  connection.send(1);
  const found = await result.promise;
  connection.close();
  server.close();
  return found;
}

const whole = [MESSAGE];
const split = [MESSAGE.subarray(0, 5), MESSAGE.subarray(5)];

for (const [name, parts] of [
  ["in one frame", whole],
  ["in two frames", split],
] as const) {
  test(`the load of a gateway counts answers with a message ${name}`, async () => {
    assert.equal(await send((stream) => answer(stream, parts)), CALLS);
  });

  test(`the load of a gateway fails at an error after answers with a message ${name}`, async () => {
    const found = await send((stream, call) => {
      if (call < CALLS - 1) answer(stream, parts);
      else stream.respond({ ":status": 200, "grpc-status": "13" }, { endStream: true });
    });
    assert.equal(found, "a call ended without a message");
  });
}
