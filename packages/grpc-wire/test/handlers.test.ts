/** Handlers that break their contract: each call ends, and its slot is free afterwards. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type GrpcServer, Status } from "../src/index.ts";
import { callFields, frame, message, type } from "./support/raw-client.ts";
import { serve } from "./support/servers.ts";

// biome-ignore lint/suspicious/noExplicitAny: what the types forbid is what these tests are about
type Wrong = any;

const results: [what: string, make: () => unknown][] = [
  ["undefined", () => undefined],
  ["null", () => null],
  ["a string", () => "answer"],
  ["a number", () => 7],
  ["an array", () => [1, 2]],
  ["an object", () => ({})],
  ["a promise of a string", () => Promise.resolve("answer")],
  ["a promise that rejects with undefined", () => Promise.reject(undefined)],
  // biome-ignore lint/suspicious/noThenProperty: a thenable is the case
  ["a thenable of a string", () => ({ then: (resolve: (value: unknown) => void) => resolve("answer") })],
  [
    "a thenable that settles twice",
    () => ({
      // biome-ignore lint/suspicious/noThenProperty: a thenable is the case
      then: (resolve: (value: unknown) => void, reject: (error: unknown) => void) => {
        resolve("answer");
        reject(new Error("second"));
        resolve("third");
      },
    }),
  ],
  [
    "a thenable that throws",
    () => ({
      // biome-ignore lint/suspicious/noThenProperty: a thenable is the case
      then: () => {
        throw new Error("then");
      },
    }),
  ],
  [
    "an object whose then is a getter that throws",
    () => ({
      // biome-ignore lint/suspicious/noThenProperty: a thenable is the case
      get then() {
        throw new Error("getter");
      },
    }),
  ],
];

const kinds: [kind: string, register: (server: GrpcServer, handler: Wrong) => void][] = [
  ["a unary handler", (server, handler) => server.unary("/t.T/Wrong", handler)],
  ["a server streaming handler", (server, handler) => server.serverStreaming("/t.T/Wrong", handler)],
  ["a bidirectional handler", (server, handler) => server.bidiStreaming("/t.T/Wrong", handler)],
];

for (const [kind, register] of kinds) {
  for (const [what, make] of results) {
    test(`${kind} that returns ${what} ends its calls and frees their slots`, async () => {
      const errors: unknown[] = [];
      const resolves = [
        "a promise of a string",
        "a thenable of a string",
        "a thenable that settles twice",
      ].includes(what);
      await using it = await serve(
        (server) => {
          register(server, make);
          server.unary("/t.T/Echo", (bytes) => bytes);
        },
        { limits: { maxConcurrentStreams: 2 }, onHandlerError: (error) => void errors.push(error) },
      );
      // More calls than there are slots, one after the other.
      for (let id = 1; id < 11; id += 2) {
        it.client.send(it.client.call(id, "/t.T/Wrong"));
        const { reset, fields } = await it.client.answer(id);
        // NO_ERROR may follow the answer when the handler failed before the request was complete.
        assert.ok(reset === undefined || reset === 0, `reset ${reset}`);
        const status = resolves && kind !== "a unary handler" ? Status.OK : Status.UNKNOWN;
        assert.equal(fields.get("grpc-status"), String(status));
      }
      it.client.send(it.client.call(11, "/t.T/Echo", "on"));
      assert.deepEqual((await it.client.answer(11)).messages.map(String), ["on"]);
      assert.equal(it.server.counts().activeCalls, 0);
      if (kind === "a unary handler") assert.equal(errors.length, 5);
    });
  }
}

test("an in-place handler's thenable that rejects fails its call and frees the slot", async () => {
  await using it = await serve(
    (server) =>
      server.unaryInPlace("/t.T/Wrong", (() => ({
        // biome-ignore lint/suspicious/noThenProperty: a thenable is the case
        then: (_resolve: unknown, reject: (error: unknown) => void) => reject(new Error("no")),
      })) as Wrong),
    { limits: { maxConcurrentStreams: 2 } },
  );
  for (let id = 1; id < 11; id += 2) {
    it.client.send(it.client.call(id, "/t.T/Wrong"));
    assert.equal((await it.client.answer(id)).fields.get("grpc-status"), String(Status.UNKNOWN));
  }
  assert.equal(it.server.counts().activeCalls, 0);
});

test("a handler that ignores a reset keeps its slot until it returns", async () => {
  const running: (() => void)[] = [];
  await using it = await serve(
    (server) =>
      server
        .unary("/t.T/Slow", (bytes) => new Promise((resolve) => running.push(() => resolve(bytes))))
        .unary("/t.T/Echo", (bytes) => bytes),
    { limits: { maxConcurrentStreams: 2 } },
  );
  const { client } = it;
  for (const id of [1, 3])
    client.send(
      client.headers(id, callFields("/t.T/Slow")),
      frame(type.data, 1, id, message("")),
      frame(type.reset, 0, id, Buffer.from([0, 0, 0, 8])),
    );
  client.send(client.call(5, "/t.T/Echo"));
  assert.equal((await client.answer(5)).reset, 7, "REFUSED_STREAM");
  for (const finish of running) finish();
  client.send(client.call(7, "/t.T/Echo", "on"));
  assert.deepEqual((await client.answer(7)).messages.map(String), ["on"]);
});
