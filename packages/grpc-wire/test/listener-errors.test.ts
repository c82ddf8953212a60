import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Server } from "node:net";
import { test } from "node:test";
import type { ServerOptions } from "../src/index.ts";
import { Authority } from "./support/certificates.ts";
import { RawClient } from "./support/raw-client.ts";
import { TestServer } from "./support/servers.ts";

const LISTEN = "tracing:net.server.listen:asyncStart";

/** Starts a server, and finds its listener. */
async function start(options: ServerOptions): Promise<{ server: TestServer; listener: Server }> {
  let listener: Server | undefined;
  function onListen(message: unknown): void {
    listener = (message as { server: Server }).server;
  }
  subscribe(LISTEN, onListen);
  try {
    const server = await TestServer.start(options);
    return { server, listener: listener! };
  } finally {
    unsubscribe(LISTEN, onListen);
  }
}

test("onListenerError receives the accept errors of a listener, which continues", async () => {
  const errors: Error[] = [];
  const { server, listener } = await start({ onListenerError: (error) => errors.push(error) });
  await using _ = server;
  const failed = new Error("accept EMFILE");
  listener.emit("error", failed);
  assert.deepEqual(errors, [failed]);
  const client = await RawClient.open({ port: server.port });
  client.send(client.call(1, "/test.Echo/Simple", "hello"));
  assert.deepEqual((await client.answer(1)).messages.map(String), ["hello"]);
  client.close();
});

test("onListenerError receives the accept errors of a TLS listener", async () => {
  const authority = new Authority("listener errors");
  const { cert, key } = authority.issue("localhost");
  authority.remove();
  const errors: Error[] = [];
  const { server, listener } = await start({
    tls: { cert, key },
    onListenerError: (error) => errors.push(error),
  });
  await using _ = server;
  listener.emit("error", new Error("accept EMFILE"));
  assert.deepEqual(
    errors.map(({ message }) => message),
    ["accept EMFILE"],
  );
});

for (const [what, options] of [
  ["without onListenerError", {}],
  ["with an onListenerError that throws", { onListenerError: () => assert.fail("thrown by the test") }],
] as const)
  test(`an accept error does not end the process ${what}`, async () => {
    const { server, listener } = await start(options);
    await using _ = server;
    listener.emit("error", new Error("accept EMFILE"));
    const client = await RawClient.open({ port: server.port });
    client.close();
  });
