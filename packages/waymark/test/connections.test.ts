import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Application, Controller } from "@tollway/waymark";
import { type RunningServer, type ServerOptions, startServer } from "../src/server.ts";
import { all, open } from "./support/raw.ts";

const SIZE = 16 * 1024 * 1024;

class Default extends Controller {
  GET() {
    return new Uint8Array(SIZE);
  }
  /** Fewer bytes than the socket's write buffer holds, in many pieces. */
  async *PUT() {
    for (let at = 0; at < 100; at++) yield new Uint8Array(1000);
  }
  POST() {
    return "short";
  }
}

const application = new Application({ controllers: { Default } });

async function serving<T>(
  options: Partial<ServerOptions>,
  use: (running: RunningServer) => Promise<T>,
): Promise<T> {
  const running = await startServer(application, {
    host: "127.0.0.1",
    port: 0,
    drainTimeout: 100,
    checkInterval: 10,
    ...options,
  });
  try {
    return await use(running);
  } finally {
    await running.stop();
  }
}

test("an idle connection closes, also after an answer that did not fit the kernel's buffer", async () => {
  await serving({ keepAliveTimeout: 50 }, async ({ port }) => {
    for (const method of ["POST", "GET"]) {
      const socket = await open(port);
      socket.write(`${method} / HTTP/1.1\r\nhost: x\r\n\r\n`);
      // Resolves only when the server closes.
      const text = await all(socket);
      assert.match(text, /^HTTP\/1\.1 200 /);
      if (method === "GET") assert.ok(text.length > SIZE);
    }
  });
});

test("a client that does not read its answer is disconnected, also with pipelined answers", async () => {
  await serving({ sendTimeout: 100, keepAliveTimeout: 60_000 }, async ({ port, server }) => {
    for (const requests of [1, 2, 3]) {
      const accepted = once(server, "connection");
      const client = await open(port);
      const [own] = await accepted;
      client.pause();
      client.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n".repeat(requests));
      if (!own.destroyed) await once(own, "close");
    }
  });
});

test("a client that reads only its first answer is disconnected", async () => {
  // Long enough for a busy machine to read the first answer.
  await serving({ sendTimeout: 2_000, keepAliveTimeout: 60_000 }, async ({ port, server }) => {
    const accepted = once(server, "connection");
    const client = await open(port);
    const [own] = await accepted;
    let taken = 0;
    client.on("data", (piece) => {
      taken += piece.length;
      if (taken > SIZE) client.pause();
    });
    client.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n".repeat(2));
    if (!own.destroyed) await once(own, "close");
    assert.ok(taken > SIZE);
  });
});

test("a server that cannot accept a connection continues and logs the error once", async (t) => {
  const logged = t.mock.method(console, "error", () => undefined);
  await serving({}, async ({ port, server }) => {
    for (let at = 0; at < 3; at++) server.emit("error", new Error("accept EMFILE"));
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST" });
    assert.equal(await response.json(), "short");
  });
  assert.deepEqual(
    logged.mock.calls.map(({ arguments: [text] }) => text),
    ["waymark: cannot accept a connection: accept EMFILE"],
  );
});
