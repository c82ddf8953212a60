/** gRPC semantics over a raw HTTP/2 client: statuses, deadlines, metadata, streams, compression. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { GrpcError, GrpcServer, Status, type UnaryCall } from "../src/index.ts";
import {
  callFields,
  type Fields,
  frame,
  message,
  RawClient,
  settings,
  type,
  uint32,
} from "./support/raw-client.ts";
import { serve, TestServer } from "./support/servers.ts";

for (const method of ["InPlace", "Simple", "Later"]) {
  test(`${method}: answers with headers, one message and status 0`, async () => {
    await using server = await TestServer.start();
    const client = await RawClient.open({ port: server.port });
    for (const [index, text] of ["", "a", "x".repeat(5000), "y".repeat(40_000)].entries()) {
      const id = index * 2 + 1;
      client.send(client.headers(id, callFields(`/test.Echo/${method}`)));
      const bytes = message(text);
      for (let at = 0; at < bytes.length; at += 16_384)
        client.send(
          frame(type.data, at + 16_384 >= bytes.length ? 1 : 0, id, bytes.subarray(at, at + 16_384)),
        );
      const answer = await client.answer(id);
      assert.equal(answer.fields.get(":status"), "200");
      assert.equal(answer.fields.get("content-type"), "application/grpc");
      assert.equal(answer.fields.get("grpc-status"), "0");
      assert.equal(answer.messages.length, 1);
      assert.ok(answer.messages[0]!.equals(Buffer.from(text)));
      assert.equal(answer.reset, undefined);
    }
    client.close();
  });
}

test("responds with the content subtype of the request", async () => {
  await using server = await TestServer.start();
  const client = await RawClient.open({ port: server.port });
  const fields = callFields("/test.Echo/InPlace").map(([name, value]) =>
    name === "content-type" ? [name, "application/grpc+proto"] : [name, value],
  ) as Fields;
  client.send(client.headers(1, fields), frame(type.data, 1, 1, message("a")));
  assert.equal((await client.answer(1)).fields.get("content-type"), "application/grpc+proto");
  client.close();
});

const bad: [what: string, more: Fields, parts: (id: number) => Buffer[], code: number, pattern: RegExp][] = [
  ["no message", [], (id) => [frame(type.data, 1, id)], 12, /no message/],
  [
    "two messages",
    [],
    (id) => [frame(type.data, 1, id, Buffer.concat([message("a"), message("b")]))],
    12,
    /more than one/,
  ],
  [
    "a message cut off",
    [],
    (id) => [frame(type.data, 1, id, message("abc").subarray(0, 6))],
    13,
    /within a message/,
  ],
  [
    "a prefix cut off",
    [],
    (id) => [frame(type.data, 1, id, message("abc").subarray(0, 3))],
    13,
    /within a message/,
  ],
  [
    "a length that lies above the limit",
    [],
    (id) => [frame(type.data, 0, id, Buffer.from("00ffffffff", "hex"))],
    8,
    /exceeds/,
  ],
  ["a compressed flag of 2", [], (id) => [frame(type.data, 1, id, message("a", 2))], 13, /compressed flag/],
  [
    "compressed without an encoding",
    [],
    (id) => [frame(type.data, 1, id, message(gzipSync("a"), 1))],
    13,
    /grpc-encoding/,
  ],
  [
    "a compressed message that is not gzip data",
    [["grpc-encoding", "gzip"]],
    (id) => [frame(type.data, 1, id, message("nogzip", 1))],
    13,
    /not gzip/,
  ],
  [
    "an unknown encoding",
    [["grpc-encoding", "br"]],
    (id) => [frame(type.data, 1, id, message("a"))],
    12,
    /identity and gzip/,
  ],
  [
    "a malformed timeout",
    [["grpc-timeout", "soon"]],
    (id) => [frame(type.data, 1, id, message("a"))],
    13,
    /grpc-timeout/,
  ],
];
for (const [what, more, parts, code, pattern] of bad) {
  test(`a request with ${what} fails with status ${code}, and the connection continues`, async () => {
    await using server = await TestServer.start();
    const client = await RawClient.open({ port: server.port });
    client.send(client.headers(1, callFields("/test.Echo/Simple", more)), ...parts(1));
    const { fields } = await client.answer(1);
    assert.equal(fields.get("grpc-status"), String(code));
    assert.match(decodeURIComponent(fields.get("grpc-message")!), pattern);
    if (what === "an unknown encoding") assert.equal(fields.get("grpc-accept-encoding"), "identity,gzip");
    client.send(client.call(3, "/test.Echo/Simple", "on"));
    assert.deepEqual((await client.answer(3)).messages.map(String), ["on"]);
    client.close();
  });
}

test("an unknown method is UNIMPLEMENTED, trailers only", async () => {
  await using server = await TestServer.start();
  const client = await RawClient.open({ port: server.port });
  client.send(client.call(1, "/test.Echo/Nope"));
  const { fields, messages } = await client.answer(1);
  assert.equal(fields.get("grpc-status"), "12");
  assert.equal(fields.get("grpc-message"), "unknown method /test.Echo/Nope");
  assert.deepEqual(messages, []);
  client.close();
});

const notCalls: [what: string, fields: Fields][] = [
  [
    "GET",
    [
      [":method", "GET"],
      [":scheme", "http"],
      [":path", "/"],
    ],
  ],
  [
    "POST of JSON",
    [
      [":method", "POST"],
      [":scheme", "http"],
      [":path", "/test.Echo/Simple"],
      ["content-type", "application/json"],
    ],
  ],
  [
    "POST without a content type",
    [
      [":method", "POST"],
      [":scheme", "http"],
      [":path", "/"],
    ],
  ],
];
for (const [what, fields] of notCalls) {
  test(`${what} gets 415 and a short text`, async () => {
    await using server = await TestServer.start();
    const client = await RawClient.open({ port: server.port });
    client.send(client.headers(1, fields, 0x5));
    const answer = await client.answer(1);
    assert.equal(answer.fields.get(":status"), "415");
    const body = client.frames.find((each) => each.type === type.data)!.payload;
    assert.match(body.toString(), /speaks gRPC/);
    assert.equal(answer.fields.get("content-length"), String(body.length));
    client.close();
  });
}

test("HEAD gets 415 without a body", async () => {
  await using server = await TestServer.start();
  const client = await RawClient.open({ port: server.port });
  client.send(
    client.headers(
      1,
      [
        [":method", "HEAD"],
        [":scheme", "http"],
        [":path", "/"],
      ],
      0x5,
    ),
  );
  assert.equal((await client.answer(1)).fields.get(":status"), "415");
  assert.equal(
    client.frames.some((each) => each.type === type.data),
    false,
  );
  client.close();
});

test("responds to an endless upload that is not a gRPC call", async () => {
  await using server = await TestServer.start();
  const client = await RawClient.open({ port: server.port });
  client.send(client.headers(1, notCalls[1]![1]));
  for (let index = 0; index < 5; index++) client.send(frame(type.data, 0, 1, Buffer.alloc(16_000)));
  assert.equal((await client.answer(1)).fields.get(":status"), "415");
  client.close();
});

test("tells an HTTP/1.1 client the correct protocol", async () => {
  await using server = await TestServer.start();
  const response = await fetch(`http://127.0.0.1:${server.port}/`);
  assert.equal(response.status, 505);
  assert.match(await response.text(), /gRPC/);
});

test("errors of handlers: only a GrpcError reaches the caller", async () => {
  const told: unknown[] = [];
  const secret = new Error("password=hunter2");
  await using it = await serve(
    (server) =>
      server
        .unary("/t.T/Throws", () => {
          throw new GrpcError(Status.INVALID_ARGUMENT, "größer als 5%");
        })
        .unary("/t.T/Rejects", () => Promise.reject(new GrpcError(Status.NOT_FOUND, "no")))
        .unary("/t.T/Breaks", () => {
          throw secret;
        })
        .unary("/t.T/BreaksLater", () => Promise.reject(secret)),
    { onHandlerError: (error: unknown, path: string) => told.push([error, path]) },
  );
  const { client } = it;
  const statuses: unknown[] = [];
  for (const [index, name] of ["Throws", "Rejects", "Breaks", "BreaksLater"].entries()) {
    client.send(client.call(index * 2 + 1, `/t.T/${name}`));
    const { fields } = await client.answer(index * 2 + 1);
    statuses.push([fields.get("grpc-status"), decodeURIComponent(fields.get("grpc-message")!)]);
  }
  assert.deepEqual(statuses, [
    ["3", "größer als 5%"],
    ["5", "no"],
    ["2", "the method failed"],
    ["2", "the method failed"],
  ]);
  assert.deepEqual(told, [
    [secret, "/t.T/Breaks"],
    [secret, "/t.T/BreaksLater"],
  ]);
});

test("a call finishes once and ignores later responses", async () => {
  let kept: UnaryCall | undefined;
  await using it = await serve((server) =>
    server.unaryInPlace("/t.T/Twice", (call) => {
      kept = call;
      call.finish(Buffer.from("first"));
      call.finish(Buffer.from("second"));
      call.fail(new GrpcError(Status.INTERNAL, "third"));
    }),
  );
  it.client.send(it.client.call(1, "/t.T/Twice"));
  const { fields, messages } = await it.client.answer(1);
  assert.deepEqual([fields.get("grpc-status"), messages.map(String)], ["0", ["first"]]);
  kept!.finish(Buffer.from("fourth"));
  it.client.send(it.client.call(3, "/t.T/Twice"));
  assert.equal((await it.client.answer(3)).messages.length, 1);
});

test("a reservation stays valid after other responses and later turns of the event loop", async () => {
  const waiting: UnaryCall[] = [];
  await using it = await serve((server) =>
    server
      .unaryInPlace("/t.T/Wait", (call) => {
        waiting.push(call);
      })
      .unaryInPlace("/t.T/Release", (call) => {
        const out = call.reserve(100);
        out.set(Buffer.from("mine"), call.offset);
        for (const other of waiting.splice(0)) {
          const theirs = other.reserve(5);
          theirs.set(Buffer.from("other"), other.offset);
          other.commit(5);
        }
        setImmediate(() => call.commit(4));
      }),
  );
  const { client } = it;
  client.send(client.call(1, "/t.T/Wait"), client.call(3, "/t.T/Wait"), client.call(5, "/t.T/Release"));
  const answers = await Promise.all([1, 3, 5].map((id) => client.answer(id)));
  assert.deepEqual(
    answers.map(({ messages }) => messages.map(String)),
    [["other"], ["other"], ["mine"]],
  );
});

test("a commit of more bytes than were reserved fails its own call only", async () => {
  await using it = await serve((server) =>
    server.unaryInPlace("/t.T/TooMuch", (call) => {
      call.reserve(4);
      call.commit(5);
    }),
  );
  it.client.send(it.client.call(1, "/t.T/TooMuch"));
  assert.equal((await it.client.answer(1)).fields.get("grpc-status"), "2");
});

test("metadata: read by name, decoded, listed; set on headers and trailers", async () => {
  let entries: [string, string][] = [];
  await using it = await serve((server) =>
    server.unary("/t.T/Meta", (_message, call) => {
      entries = call.metadataEntries();
      assert.equal(call.metadata("x-one"), "1");
      assert.equal(call.metadata("x-none"), undefined);
      assert.deepEqual([...call.binaryMetadata("x-bin")!], [0, 255]);
      call.setInitialMetadata("x-early", "e");
      call.setTrailingMetadata("x-late-bin", Uint8Array.of(1, 2, 3));
      assert.throws(() => call.setTrailingMetadata("grpc-status", "7"), TypeError);
      return Buffer.from("ok");
    }),
  );
  const more: Fields = [
    ["x-one", "1"],
    ["x-one", "2"],
    ["x-bin", "AP8"],
    ["grpc-timeout", "5S"],
  ];
  it.client.send(it.client.call(1, "/t.T/Meta", "", more));
  const { fields, messages } = await it.client.answer(1);
  assert.deepEqual(messages.map(String), ["ok"]);
  assert.equal(fields.get("x-early"), "e");
  assert.equal(fields.get("x-late-bin"), "AQID");
  assert.deepEqual(entries, [
    ["x-one", "1"],
    ["x-one", "2"],
    ["x-bin", "AP8"],
  ]);
});

test("the call knows its path, its caller and its deadline", async () => {
  let seen: unknown[] = [];
  await using it = await serve((server) =>
    server.unary("/t.T/Who", (message, call) => {
      seen = [call.path, call.peer, call.deadline - Date.now(), call.cancelled, call.peerCertificate];
      return message;
    }),
  );
  it.client.send(it.client.call(1, "/t.T/Who", "", [["grpc-timeout", "60S"]]));
  await it.client.answer(1);
  const [path, peer, left, cancelled, certificate] = seen;
  assert.equal(path, "/t.T/Who");
  assert.equal(peer, `127.0.0.1:${it.client.socket.localPort}`);
  assert.ok(Number(left) > 50_000 && Number(left) <= 60_000);
  assert.deepEqual([cancelled, certificate], [false, undefined]);
});

test("a deadline that passes ends the call and aborts its signal", async () => {
  await using server = await TestServer.start();
  const client = await RawClient.open({ port: server.port });
  client.send(client.call(1, "/test.Echo/Never", "", [["grpc-timeout", "30m"]]));
  const { fields } = await client.answer(1);
  assert.equal(fields.get("grpc-status"), "4");
  assert.equal(server.held[0]!.aborted, true);
  assert.equal(server.grpc.counts().activeCalls, 0);
  client.close();
});

test("a deadline of 0 ends the call before the handler runs", async () => {
  await using server = await TestServer.start();
  const client = await RawClient.open({ port: server.port });
  client.send(client.call(1, "/test.Echo/Never", "", [["grpc-timeout", "0n"]]));
  assert.equal((await client.answer(1)).fields.get("grpc-status"), "4");
  assert.equal(server.held.length, 0);
  client.close();
});

test("a caller that resets its stream cancels the call", async () => {
  await using server = await TestServer.start();
  const client = await RawClient.open({ port: server.port });
  client.send(client.call(1, "/test.Echo/Never"), client.call(3, "/test.Echo/Simple"));
  await client.answer(3);
  assert.equal(server.held[0]!.aborted, false);
  client.send(frame(type.reset, 0, 1, uint32(8)), client.call(5, "/test.Echo/Simple"));
  await client.answer(5);
  assert.equal(server.held[0]!.aborted, true);
  client.close();
});

test("a lost connection cancels all its calls", async () => {
  await using server = await TestServer.start();
  const client = await RawClient.open({ port: server.port });
  client.send(
    client.call(1, "/test.Echo/Never"),
    client.call(3, "/test.Echo/Never"),
    client.call(5, "/test.Echo/Simple"),
  );
  await client.answer(5);
  const aborted = Promise.all(
    server.held.map((signal) => new Promise((resolve) => signal.addEventListener("abort", resolve))),
  );
  client.close();
  await aborted;
  assert.equal(server.grpc.counts().activeCalls, 0);
});

test("server streaming: many messages, in order, then the status", async () => {
  await using server = await TestServer.start();
  const client = await RawClient.open({ port: server.port });
  client.send(client.call(1, "/test.Echo/Repeat", Buffer.concat([uint32(300), Buffer.from("tick")])));
  const { fields, messages } = await client.answer(1);
  assert.equal(messages.length, 300);
  assert.ok(messages.every((each) => String(each) === "tick"));
  assert.equal(fields.get("grpc-status"), "0");
  client.close();
});

test("server streaming: a closed window blocks the handler", async () => {
  let written = 0;
  await using it = await serve((server) =>
    server.serverStreaming("/t.T/Flood", async function* () {
      for (; written < 10_000; written++) yield new Uint8Array(1024);
    }),
  );
  const { client } = it;
  client.send(client.call(1, "/t.T/Flood"));
  await client.until(() => client.frames.filter((each) => each.type === type.data).length >= 4);
  client.send(frame(type.ping, 0, 0, Buffer.alloc(8)));
  await client.frame(type.ping);
  assert.ok(written < 200, `${written} messages were made for a window of 64`);
  client.send(
    frame(type.windowUpdate, 0, 0, uint32(20_000_000)),
    frame(type.windowUpdate, 0, 1, uint32(20_000_000)),
  );
  assert.equal((await client.answer(1)).messages.length, 10_000);
});

test("server streaming: a cancelled call ends the generator", async () => {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  await using it = await serve((server) =>
    server.serverStreaming("/t.T/Forever", async function* () {
      try {
        for (;;) yield new Uint8Array(10_000);
      } finally {
        resolve();
      }
    }),
  );
  const { client } = it;
  client.send(client.call(1, "/t.T/Forever"));
  await client.frame(type.data);
  client.send(frame(type.reset, 0, 1, uint32(8)));
  await ended;
});

test("server streaming: write rejects after the call is cancelled", async () => {
  const { promise: failure, resolve } = Promise.withResolvers<unknown>();
  await using it = await serve((server) =>
    server.serverStreaming("/t.T/Write", async (_message, call) => {
      try {
        for (;;) await call.write(new Uint8Array(10_000));
      } catch (error) {
        resolve(error);
      }
    }),
  );
  it.client.send(it.client.call(1, "/t.T/Write"));
  await it.client.frame(type.data);
  it.client.close();
  const error = await failure;
  assert.ok(error instanceof GrpcError && error.code === Status.CANCELLED);
});

test("bidirectional streaming: messages arrive in order, regardless of the frames", async () => {
  await using server = await TestServer.start();
  const client = await RawClient.open({ port: server.port });
  client.send(client.headers(1, callFields("/test.Echo/Each")), frame(type.data, 0, 1, message("one")));
  await client.until(() => client.answerSoFar(1).messages.length === 1);
  const three = Buffer.concat([message("two"), message("three"), message("")]);
  for (const octet of three) client.send(frame(type.data, 0, 1, Buffer.from([octet])));
  await client.until(() => client.answerSoFar(1).messages.length === 4);
  client.send(frame(type.data, 1, 1));
  const { fields, messages } = await client.answer(1);
  assert.deepEqual(messages.map(String), ["one", "two", "three", ""]);
  assert.equal(fields.get("grpc-status"), "0");
  client.close();
});

test("bidirectional streaming: unread messages keep the window closed", async () => {
  await using it = await serve((server) =>
    server.bidiStreaming("/t.T/Deaf", async (_messages, call) => {
      await new Promise((resolve) => call.signal.addEventListener("abort", resolve));
    }),
  );
  const { client } = it;
  client.send(client.headers(1, callFields("/t.T/Deaf")));
  for (let index = 0; index < 16; index++) client.send(frame(type.data, 0, 1, message(Buffer.alloc(15_000))));
  client.send(frame(type.ping, 0, 0, Buffer.alloc(8)));
  await client.frame(type.ping);
  const updates = client.frames.filter((each) => each.type === type.windowUpdate && each.id === 1);
  assert.equal(updates.length, 0);
});

test("gzip: decompresses a request, and compresses its response above the threshold", async () => {
  await using server = await TestServer.start();
  const client = await RawClient.open({ port: server.port });
  const gzip: Fields = [
    ["grpc-encoding", "gzip"],
    ["grpc-accept-encoding", "identity,deflate,gzip"],
  ];
  for (const [index, size] of [10, 5000, 300_000].entries()) {
    const id = index * 2 + 1;
    const text = "z".repeat(size);
    client.send(
      client.headers(id, callFields("/test.Echo/Simple", gzip)),
      frame(type.data, 1, id, message(gzipSync(text), 1)),
    );
    const { fields, messages } = await client.answer(id);
    assert.equal(fields.get("grpc-status"), "0");
    if (size < 1024) assert.equal(String(messages[0]), text);
    else {
      assert.equal(fields.get("grpc-encoding"), "gzip");
      assert.equal(String(gunzipSync(messages[0]!)), text);
    }
  }
  client.send(client.call(7, "/test.Echo/Simple", "p".repeat(5000), [["grpc-accept-encoding", "gzip"]]));
  const plain = await client.answer(7);
  assert.equal(plain.fields.get("grpc-encoding"), undefined);
  assert.equal(plain.messages[0]!.length, 5000);
  client.close();
});

test("gzip: the accepted mode compresses for every caller that accepts it, also in streams", async () => {
  await using server = await TestServer.start({ responseCompression: "accepted" });
  const client = await RawClient.open({ port: server.port });
  const accepts: Fields = [["grpc-accept-encoding", "gzip"]];
  client.send(client.call(1, "/test.Echo/Simple", "p".repeat(5000), accepts));
  assert.equal(String(gunzipSync((await client.answer(1)).messages[0]!)), "p".repeat(5000));
  client.send(
    client.call(3, "/test.Echo/Repeat", Buffer.concat([uint32(2), Buffer.alloc(2000, "q")]), accepts),
  );
  const { messages } = await client.answer(3);
  assert.deepEqual(
    messages.map((each) => String(gunzipSync(each))),
    ["q".repeat(2000), "q".repeat(2000)],
  );
  client.close();
});

test("large responses share the windows", async () => {
  await using server = await TestServer.start();
  const client = await RawClient.open({ port: server.port }, settings([4, 1000]));
  client.send(
    client.call(1, "/test.Echo/Large", uint32(200_000)),
    client.call(3, "/test.Echo/Large", uint32(100_000)),
  );
  await client.until(() => client.frames.filter((each) => each.type === type.data).length === 2);
  client.send(settings([4, 30_000]));
  await client.until(() => client.answerBytes(1) === 30_000 && client.answerBytes(3) === 30_000);
  client.send(frame(type.windowUpdate, 0, 0, uint32(1_000_000)));
  client.send(
    frame(type.windowUpdate, 0, 3, uint32(1_000_000)),
    frame(type.windowUpdate, 0, 1, uint32(1_000_000)),
  );
  assert.equal((await client.answer(1)).messages[0]!.length, 200_000);
  assert.equal((await client.answer(3)).messages[0]!.length, 100_000);
  client.close();
});

test("large requests get WINDOW_UPDATE frames", async () => {
  await using server = await TestServer.start();
  const client = await RawClient.open({ port: server.port });
  const bytes = message(Buffer.alloc(3_000_000, 1));
  client.send(client.headers(1, callFields("/test.Echo/Length")));
  let sent = 0;
  const granted = (id: number, first: number) =>
    client.frames
      .filter((each) => each.type === type.windowUpdate && each.id === id)
      .reduce((sum, { payload }) => sum + payload.readUInt32BE(), first);
  while (sent < bytes.length) {
    await client.until(() => Math.min(granted(0, 65_535), granted(1, 262_144)) > sent);
    const size = Math.min(
      16_384,
      bytes.length - sent,
      Math.min(granted(0, 65_535), granted(1, 262_144)) - sent,
    );
    client.send(frame(type.data, sent + size === bytes.length ? 1 : 0, 1, bytes.subarray(sent, sent + size)));
    sent += size;
  }
  const { messages } = await client.answer(1);
  assert.deepEqual(messages.map(String), ["3000000"]);
  client.close();
});

test("the observer sees each call once, with its status", async () => {
  const seen: unknown[] = [];
  const observer = {
    callStarted: (path: string) => seen.push(`started ${path}`),
    callFinished: (path: string, status: number, ms: number) =>
      seen.push(`finished ${path} ${status} ${ms >= 0 && ms < 60_000}`),
  };
  await using server = await TestServer.start({ observer });
  const client = await RawClient.open({ port: server.port });
  client.send(client.call(1, "/test.Echo/Simple"));
  await client.answer(1);
  client.send(client.call(3, "/test.Echo/Nope"));
  await client.answer(3);
  client.send(client.call(5, "/test.Echo/Never", "", [["grpc-timeout", "20m"]]));
  await client.answer(5);
  assert.deepEqual(seen, [
    "started /test.Echo/Simple",
    "finished /test.Echo/Simple 0 true",
    "finished  12 true",
    "started /test.Echo/Never",
    "finished /test.Echo/Never 4 true",
  ]);
  client.close();
});

test("a call knows the time of its read, and its duration begins there", async () => {
  const ended: { status: number; ms: number; calls: number }[] = [];
  const observer = {
    callFinished: (_path: string, status: number, ms: number, calls: number) =>
      void ended.push({ status, ms, calls }),
  };
  const reads: number[] = [];
  await using server = await TestServer.start({ observer });
  server.grpc.unaryInPlace("/t.T/Slow", (call) => {
    reads.push(call.readAt);
    const until = performance.now() + 3;
    while (performance.now() < until);
    if (call.metadata("x-fails") !== undefined) call.fail(new GrpcError(Status.NOT_FOUND, "none"));
    else call.finish(Buffer.alloc(0));
  });
  const client = await RawClient.open({ port: server.port });
  const before = Date.now();
  client.send(Buffer.concat([client.call(1, "/t.T/Slow"), client.call(3, "/t.T/Slow")]));
  await client.answer(3);
  assert.equal(reads[0], reads[1]);
  assert.ok(reads[0]! >= before && reads[0]! <= Date.now());
  // The responses to the calls of one read leave together, so the observer gets them in one call with one duration.
  assert.deepEqual(
    ended.map(({ status, calls }) => [status, calls]),
    [[0, 2]],
  );
  assert.ok(ended[0]!.ms >= 6, String(ended[0]!.ms));
  ended.length = 0;
  const fails: [string, string][] = [["x-fails", "1"]];
  client.send(
    Buffer.concat([
      client.call(5, "/t.T/Slow"),
      client.call(7, "/t.T/Slow", "", fails),
      client.call(9, "/t.T/Slow", "", fails),
      client.call(11, "/t.T/Slow"),
    ]),
  );
  await client.answer(11);
  assert.deepEqual(
    ended.map(({ status, calls }) => [status, calls]),
    [
      [0, 1],
      [5, 2],
      [0, 1],
    ],
  );
  client.close();
});

test("the observer sees calls that end in one turn after their read together, with their duration", async () => {
  const ended: { ms: number; calls: number }[] = [];
  const observer = {
    callFinished: (_path: string, _status: number, ms: number, calls: number) =>
      void ended.push({ ms, calls }),
  };
  const waiting: UnaryCall[] = [];
  await using server = await TestServer.start({ observer });
  server.grpc.unaryInPlace("/t.T/Later", (call) => {
    waiting.push(call);
    if (waiting.length < 4) return;
    setTimeout(() => {
      for (const each of waiting) each.finish(Buffer.alloc(0));
    }, 20);
  });
  const client = await RawClient.open({ port: server.port });
  client.send(Buffer.concat([client.call(1, "/t.T/Later"), client.call(3, "/t.T/Later")]));
  while (waiting.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  client.send(Buffer.concat([client.call(5, "/t.T/Later"), client.call(7, "/t.T/Later")]));
  await client.answer(7);
  assert.deepEqual(
    ended.map(({ calls }) => calls),
    [2, 2],
  );
  assert.ok(ended[0]!.ms > ended[1]!.ms && ended[1]!.ms >= 19, JSON.stringify(ended));
  client.close();
});

test("hooks that throw affect neither calls nor the server", async () => {
  const boom = () => {
    throw new Error("hook");
  };
  const observer = { callStarted: boom, callFinished: boom };
  await using server = await TestServer.start({ observer, onHandlerError: boom, onConnectionError: boom });
  const client = await RawClient.open({ port: server.port });
  client.send(client.call(1, "/test.Echo/Simple", "a"), client.call(3, "/test.Echo/InPlace", "b"));
  assert.deepEqual((await client.answer(1)).messages.map(String), ["a"]);
  assert.deepEqual((await client.answer(3)).messages.map(String), ["b"]);
  client.send(frame(type.data, 0, 0));
  assert.equal((await client.goaway()).code, 1);
  await client.closed();
});

test("a handler that returns no Uint8Array fails its own call only", async () => {
  await using it = await serve((server) =>
    server
      .unary("/t.T/Nothing", (() => undefined) as never)
      .unary("/t.T/NothingLater", (async () => "text") as never)
      .serverStreaming("/t.T/NothingStreamed", async function* () {
        yield 5 as never;
      }),
  );
  for (const [index, name] of ["Nothing", "NothingLater", "NothingStreamed"].entries()) {
    it.client.send(it.client.call(index * 2 + 1, `/t.T/${name}`));
    assert.equal((await it.client.answer(index * 2 + 1)).fields.get("grpc-status"), "2");
  }
});

test("a stream with a negative window sends nothing until the window is positive", async () => {
  await using server = await TestServer.start();
  const client = await RawClient.open({ port: server.port }, settings([4, 30_000]));
  client.send(client.call(1, "/test.Echo/Large", uint32(100_000)));
  await client.until(() => client.answerBytes(1) === 30_000);
  // 30,000 are sent: the window becomes 100 - 30,000.
  client.send(settings([4, 100]), frame(type.windowUpdate, 0, 0, uint32(1_000_000)));
  client.send(frame(type.windowUpdate, 0, 1, uint32(29_900)), frame(type.ping, 0, 0, Buffer.alloc(8)));
  await client.frame(type.ping);
  assert.equal(client.answerBytes(1), 30_000);
  client.send(frame(type.windowUpdate, 0, 1, uint32(1)), frame(type.ping, 0, 0, Buffer.alloc(8, 1)));
  await client.until(() => client.answerBytes(1) > 30_000);
  assert.equal(client.answerBytes(1), 30_001);
  client.send(frame(type.windowUpdate, 0, 1, uint32(100_000)));
  assert.equal((await client.answer(1)).messages[0]!.length, 100_000);
  client.close();
});

test("checks paths at registration", () => {
  const server = new GrpcServer();
  server.unary("/a.B/C", (message) => message);
  assert.throws(() => server.unary("/a.B/C", (message) => message), /already registered/);
  for (const path of ["a.B/C", "/a.B", "/a.B/C/D", "/a B/C", ""])
    assert.throws(() => server.unary(path, (message) => message), /use \/package.Service\/Method/);
});

test("invalid options throw an error that names them", () => {
  assert.throws(() => new GrpcServer({ limits: { maxConcurrentStreams: 0 } }), /maxConcurrentStreams/);
  assert.throws(() => new GrpcServer({ limits: { streamWindowBytes: 1000 } }), /65,535 to 2\^31-1/);
  assert.throws(() => new GrpcServer({ connection: { keepaliveTimeMs: -1 } }), /keepaliveTimeMs is -1/);
  assert.throws(
    () => new GrpcServer({ limits: { maxStreams: 5 } as object }),
    /unknown option limits.maxStreams/,
  );
});
