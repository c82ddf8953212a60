/** Request messages above `maxRequestBytes`, and the answer that a server may have for them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { callFields, frame, message, RawClient, type } from "./support/raw-client.ts";
import { TestServer } from "./support/servers.ts";

const limit = 100_000;
const limits = { maxRequestBytes: limit };
const gzip: [string, string][] = [["grpc-encoding", "gzip"]];
const data = (id: number, bytes: Buffer) => {
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 16_384)
    frames.push(frame(type.data, at + 16_384 >= bytes.length ? 1 : 0, id, bytes.subarray(at, at + 16_384)));
  return frames;
};

const oversized: [string, [string, string][], (id: number) => Buffer[]][] = [
  [
    "of a large length, before its bytes have come",
    [],
    (id) => [frame(type.data, 0, id, Buffer.from("0000020000", "hex"))],
  ],
  ["in many frames", [], (id) => data(id, message(Buffer.alloc(limit + 1)))],
  [
    "that inflates at once to a little more",
    gzip,
    (id) => data(id, message(gzipSync(Buffer.alloc(limit + 1)), 1)),
  ],
  ["that inflates to 50 MB", gzip, (id) => data(id, message(gzipSync(Buffer.alloc(50_000_000)), 1))],
];
for (const [what, more, parts] of oversized) {
  test(`a message ${what} is RESOURCE_EXHAUSTED, or gets the response of onOversizedMessage`, async () => {
    for (const answered of [false, true]) {
      const asked: string[] = [];
      const onOversizedMessage = (path: string) => {
        asked.push(path);
        return answered ? Buffer.from("too large") : undefined;
      };
      await using server = await TestServer.start({ limits, onOversizedMessage });
      const client = await RawClient.open({ port: server.port });
      client.send(client.headers(1, callFields("/test.Echo/Simple", more)), ...parts(1));
      const { fields, messages } = await client.answer(1);
      assert.equal(fields.get("grpc-status"), answered ? "0" : "8");
      assert.deepEqual(messages.map(String), answered ? ["too large"] : []);
      assert.deepEqual(asked, ["/test.Echo/Simple"]);
      client.send(client.call(3, "/test.Echo/Simple", "on"));
      assert.deepEqual((await client.answer(3)).messages.map(String), ["on"]);
      client.close();
    }
  });
}

test("an onOversizedMessage that throws does not change the status", async () => {
  const errors: unknown[] = [];
  await using server = await TestServer.start({
    limits,
    onHandlerError: (error) => errors.push(error),
    onOversizedMessage: () => {
      throw new Error("no answer");
    },
  });
  const client = await RawClient.open({ port: server.port });
  client.send(
    client.headers(1, callFields("/test.Echo/Simple")),
    frame(type.data, 0, 1, Buffer.from("0000020000", "hex")),
  );
  assert.equal((await client.answer(1)).fields.get("grpc-status"), "8");
  assert.equal(String(errors), "Error: no answer");
  client.close();
});

test("a message of exactly the limit is served, plain and compressed", async () => {
  await using server = await TestServer.start({ limits: { maxRequestBytes: 30_000 } });
  const client = await RawClient.open({ port: server.port });
  const most = Buffer.alloc(30_000, "m");
  client.send(client.headers(1, callFields("/test.Echo/Simple")), ...data(1, message(most)));
  client.send(
    client.headers(3, callFields("/test.Echo/Simple", gzip)),
    ...data(3, message(gzipSync(most), 1)),
  );
  for (const id of [1, 3]) assert.equal((await client.answer(id)).fields.get("grpc-status"), "0");
  client.close();
});
