/** Real gRPC clients from npm against the server: unary, concurrent, deadlines, cancels, large, compressed. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { compressionGzip, createGrpcTransport } from "@connectrpc/connect-node";
import grpc from "@grpc/grpc-js";
import { scaled } from "../../../tools/time-scale.ts";
import { EchoService } from "./support/echo-service.ts";
import { TestServer } from "./support/servers.ts";

const bytes = (value: Buffer) => value;

/** grpc-js without generated code: messages are bytes. */
function unary(
  client: grpc.Client,
  method: string,
  message: Uint8Array,
  options: grpc.CallOptions = {},
  metadata = new grpc.Metadata(),
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      `/test.Echo/${method}`,
      bytes,
      bytes,
      Buffer.from(message),
      metadata,
      options,
      (error, answer) => (error === null ? resolve(answer!) : reject(error)),
    );
  });
}

describe("@grpc/grpc-js", () => {
  let server: TestServer;
  let client: grpc.Client;
  before(async () => {
    server = await TestServer.start();
    client = new grpc.Client(`127.0.0.1:${server.port}`, grpc.credentials.createInsecure(), {
      "grpc.max_receive_message_length": -1,
    });
  });
  after(async () => {
    client.close();
    await server.grpc.close();
  });

  test("unary, of many sizes", async () => {
    for (const size of [0, 1, 100, 16_000, 16_384, 70_000, 1_000_000, 4_000_000]) {
      const message = Buffer.alloc(size, "m");
      for (const method of ["InPlace", "Simple", "Later"])
        assert.ok((await unary(client, method, message)).equals(message), `${method} of ${size} bytes`);
    }
  });

  test("1,000 concurrent calls each get their own answer", async () => {
    const calls = Array.from({ length: 1000 }, (_, index) =>
      unary(client, index % 2 ? "Later" : "InPlace", Buffer.from(`n${index}`)),
    );
    assert.deepEqual(
      (await Promise.all(calls)).map(String),
      calls.map((_, index) => `n${index}`),
    );
  });

  test("20 concurrent calls of 500 KB", async () => {
    const messages = Array.from({ length: 20 }, (_, index) => Buffer.alloc(500_000, index));
    const answers = await Promise.all(messages.map((message) => unary(client, "Later", message)));
    assert.ok(answers.every((answer, index) => answer.equals(messages[index]!)));
  });

  test("a message above the limit is RESOURCE_EXHAUSTED", async () => {
    await assert.rejects(unary(client, "Simple", Buffer.alloc(5_000_000)), {
      code: grpc.status.RESOURCE_EXHAUSTED,
    });
  });

  test("a deadline", async () => {
    await assert.rejects(unary(client, "Never", Buffer.alloc(0), { deadline: Date.now() + scaled(100) }), {
      code: grpc.status.DEADLINE_EXCEEDED,
    });
  });

  test("a cancel reaches the handler", async () => {
    const before = server.held.length;
    const { promise, resolve } = Promise.withResolvers<grpc.ServiceError | null>();
    const call = client.makeUnaryRequest("/test.Echo/Never", bytes, bytes, Buffer.alloc(0), resolve);
    while (server.held.length === before) await unary(client, "Simple", Buffer.alloc(0));
    call.cancel();
    assert.equal((await promise)?.code, grpc.status.CANCELLED);
    const signal = server.held[before]!;
    if (!signal.aborted) await new Promise((aborted) => signal.addEventListener("abort", aborted));
  });

  test("gzip", async () => {
    const zipping = new grpc.Client(`127.0.0.1:${server.port}`, grpc.credentials.createInsecure(), {
      "grpc.default_compression_algorithm": 2,
    });
    const message = Buffer.alloc(200_000, "gzip me ");
    assert.ok((await unary(zipping, "Simple", message)).equals(message));
    zipping.close();
  });

  test("server streaming and bidirectional streaming", async () => {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(2000);
    const down = client.makeServerStreamRequest(
      "/test.Echo/Repeat",
      bytes,
      bytes,
      Buffer.concat([count, Buffer.from("tick")]),
    );
    let seen = 0;
    for await (const message of down) {
      assert.equal(String(message), "tick");
      seen += 1;
    }
    assert.equal(seen, 2000);
    const both = client.makeBidiStreamRequest("/test.Echo/Each", bytes, bytes);
    for (let index = 0; index < 500; index++) both.write(Buffer.from(`n${index}`));
    both.end();
    const answers: string[] = [];
    for await (const message of both) answers.push(String(message));
    assert.deepEqual(
      answers,
      Array.from({ length: 500 }, (_, index) => `n${index}`),
    );
  });

  test("an unknown method", async () => {
    await assert.rejects(unary(client, "Nope", Buffer.alloc(0)), { code: grpc.status.UNIMPLEMENTED });
  });

  test("loses no call while connections reach their maximum age one after the other", async () => {
    // The client repeats a call once: a new connection must live longer than its first call takes.
    await using aging = await TestServer.start({ connection: { maxConnectionAgeMs: scaled(40) } });
    const restless = new grpc.Client(`127.0.0.1:${aging.port}`, grpc.credentials.createInsecure());
    let answered = 0;
    const callers = Array.from({ length: 8 }, async (_, caller) => {
      // Until several connections have come and gone, and their last calls with them.
      for (let index = 0; aging.grpc.counts().connectionsAccepted < 6 && index < 20_000; index++) {
        const message = Buffer.from(`${caller} ${index}`);
        const answer = await unary(restless, index % 2 ? "Later" : "InPlace", message);
        assert.ok(answer.equals(message));
        answered += 1;
      }
    });
    try {
      await Promise.all(callers);
    } finally {
      restless.close();
    }
    assert.ok(answered > 0);
    assert.ok(aging.grpc.counts().connectionsAccepted >= 6);
    assert.equal(aging.grpc.counts().connectionErrors, 0);
  });

  test("a unix socket", async () => {
    const folder = await mkdtemp(join(tmpdir(), "grpc-wire-"));
    const path = join(folder, "grpc.sock");
    assert.deepEqual(await server.grpc.listen({ path }), { kind: "unix", path });
    const local = new grpc.Client(`unix:${path}`, grpc.credentials.createInsecure());
    assert.equal(String(await unary(local, "Simple", Buffer.from("local"))), "local");
    local.close();
    await rm(folder, { recursive: true });
  });
});

describe("@connectrpc/connect-node", () => {
  let server: TestServer;
  const transport = (options = {}) =>
    createGrpcTransport({
      baseUrl: `http://127.0.0.1:${server.port}`,
      httpVersion: "2",
      ...options,
    } as Parameters<typeof createGrpcTransport>[0]);
  before(async () => {
    server = await TestServer.start();
  });
  after(() => server.grpc.close());

  test("unary, concurrent, large, compressed", async () => {
    const client = createClient(EchoService, transport());
    const zipping = createClient(
      EchoService,
      transport({ sendCompression: compressionGzip, compressMinBytes: 10 }),
    );
    const calls = Array.from({ length: 100 }, (_, index) => client.simple({ value: `n${index}` }));
    assert.deepEqual(
      (await Promise.all(calls)).map(({ value }) => value),
      calls.map((_, index) => `n${index}`),
    );
    for (const each of [client, zipping]) {
      const value = "large ".repeat(50_000);
      assert.equal((await each.later({ value })).value, value);
    }
  });

  test("a deadline and a cancel", async () => {
    const client = createClient(EchoService, transport());
    await assert.rejects(client.never({ value: "" }, { timeoutMs: 50 }), (error) => {
      return error instanceof ConnectError && error.code === Code.DeadlineExceeded;
    });
    const controller = new AbortController();
    const before = server.held.length;
    const call = client.never({ value: "" }, { signal: controller.signal });
    while (server.held.length === before) await client.simple({ value: "" });
    controller.abort();
    await assert.rejects(call, (error) => error instanceof ConnectError && error.code === Code.Canceled);
  });

  test("streams", async () => {
    const client = createClient(EchoService, transport());
    const sent = ["a", "b", "c"];
    const answers: string[] = [];
    const requests = (async function* () {
      for (const value of sent) yield { value };
    })();
    for await (const { value } of client.each(requests)) answers.push(value);
    assert.deepEqual(answers, sent);
  });
});
