import assert from "node:assert/strict";
import { once } from "node:events";
import { createReadStream, type ReadStream } from "node:fs";
import { connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import { after, before, describe, test } from "node:test";
import { Application, Controller } from "@tollway/waymark";
import { asgiListener } from "../src/serve/node/asgi-listener.ts";
import { nodeListener } from "../src/serve/node/node-adapter.ts";
import { wsgiListener } from "../src/serve/node/wsgi-listener.ts";
import { type RunningServer, startServer } from "../src/server.ts";

const FILE = process.execPath;
const opened = new Set<ReadStream>();

function file(path = FILE): ReadStream {
  const stream = createReadStream(path);
  opened.add(stream);
  return stream;
}

/** Resolves once no opened stream holds a descriptor. */
async function allClosed(): Promise<void> {
  for (const stream of opened)
    if (!stream.closed) await new Promise((resolve) => stream.once("close", resolve));
  opened.clear();
}

let arrived = Promise.withResolvers<void>();

class Files extends Controller {
  GET(path?: string) {
    return file(path);
  }
  PUT() {
    this.response.status = 304;
    return file();
  }
  PATCH() {
    this.response.status = 999;
    return file();
  }
  POST() {
    return new Response(ReadableStream.from(file()));
  }
  /** Opens a file after its client has left. */
  async DELETE() {
    const left = once(this.signal, "abort");
    arrived.resolve();
    await left;
    return file();
  }
}

/** Replaces every answer. */
class Replaced extends Controller {
  override after() {
    return new Response("instead");
  }
  GET() {
    return file();
  }
  PUT() {
    return new Response(ReadableStream.from(file()));
  }
}

class Refused extends Controller {
  override after() {
    throw new Error("after() fails");
  }
  GET() {
    return file();
  }
}

/** Streams at places where nothing reads them. */
class Misplaced extends Controller {
  GET(path?: string) {
    return { files: [file(path), file()] };
  }
  async *PUT(path?: string) {
    yield file(path);
  }
  POST(path?: string) {
    throw file(path);
  }
  PATCH() {
    return { web: Readable.toWeb(file()) };
  }
  DELETE() {
    return { later: Promise.reject(new Error("nobody waits for it")) };
  }
}

class Unsendable extends Controller {
  GET() {
    this.response.headers.set("x-text", "a\u0080b\x7f");
    return file();
  }
}

const reported: string[] = [];
function application(): Application {
  return new Application({
    controllers: { Files, Replaced, Refused, Misplaced, Unsendable },
    log: (error) => reported.push((error as Error).message),
  });
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

async function sent(port: number, method: string, path: string): Promise<Socket> {
  const socket = await open(port);
  socket.write(`${method} ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
  return socket;
}

async function status(port: number, method: string, path: string): Promise<number> {
  const socket = await sent(port, method, path);
  let text = "";
  for await (const piece of socket) text += (piece as Buffer).toString("latin1");
  return Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
}

const ROWS = [
  ["HEAD", "/files", 200],
  ["HEAD", "/files/missing", 200],
  ["GET", "/files/missing", 500],
  ["PUT", "/files", 304],
  ["PATCH", "/files", 500],
  ["HEAD", "/replaced", 200],
  ["GET", "/replaced", 200],
  ["PUT", "/replaced", 200],
  ["GET", "/refused", 500],
  ["GET", "/misplaced", 500],
  ["GET", "/misplaced/missing", 500],
  ["HEAD", "/misplaced/missing", 500],
  ["PUT", "/misplaced", 500],
  ["PUT", "/misplaced/missing", 500],
  ["POST", "/misplaced", 500],
  ["POST", "/misplaced/missing", 500],
  ["PATCH", "/misplaced", 500],
  ["DELETE", "/misplaced", 500],
] as const;

for (const [name, listener] of [
  ["node", nodeListener],
  ["asgi", asgiListener],
  ["wsgi", wsgiListener],
] as const) {
  describe(`${name}: no stream is left open`, () => {
    let running: RunningServer;
    before(async () => {
      running = await startServer(application(), { host: "127.0.0.1", port: 0, drainTimeout: 100, listener });
    });
    after(() => running.stop());

    for (const [method, path, expected] of ROWS)
      test(`${method} ${path}`, async () => {
        for (let at = 0; at < 20; at++) assert.equal(await status(running.port, method, path), expected);
        await allClosed();
      });

    test("a client that leaves during the answer", async () => {
      for (const path of ["GET /files", "POST /files"]) {
        const [method, target] = path.split(" ") as [string, string];
        const socket = await sent(running.port, method, target);
        await once(socket, "readable");
        socket.destroy();
        await allClosed();
      }
    });

    test("a client that leaves with pipelined answers", async () => {
      const socket = await open(running.port);
      socket.write("GET /files HTTP/1.1\r\nhost: x\r\n\r\n".repeat(3));
      await once(socket, "readable");
      while (opened.size < 3) await new Promise(setImmediate);
      socket.destroy();
      await allClosed();
    });

    // WSGI detects that a client has left only when it sends.
    if (name !== "wsgi")
      test("a client that leaves before the stream exists", async () => {
        arrived = Promise.withResolvers();
        const socket = await sent(running.port, "DELETE", "/files");
        await arrived.promise;
        socket.destroy();
        while (opened.size === 0) await new Promise(setImmediate);
        await allClosed();
      });
  });
}

describe("fetch: no stream is left open", () => {
  const { fetch } = application();
  for (const [method, path, expected] of ROWS)
    test(`${method} ${path}`, async () => {
      const response = await fetch(new Request(`http://localhost${path}`, { method }));
      assert.equal(response.status, expected);
      await response.body?.cancel();
      await allClosed();
    });

  test("a reader that cancels, and a request that is aborted", async () => {
    const reader = (await fetch(new Request("http://localhost/files"))).body!.getReader();
    await reader.read();
    await reader.cancel();
    await allClosed();
    const abort = new AbortController();
    const request = new Request("http://localhost/files", { signal: abort.signal });
    const aborted = (await fetch(request)).body!.getReader();
    await aborted.read();
    abort.abort();
    await assert.rejects(async () => {
      for (;;) await aborted.read();
    }, /abort/i);
    await allClosed();
  });

  test("a reader that cancels a silent stream aborts the signal, and is not an error", async () => {
    const waiting = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<unknown>();
    class Silent extends Controller {
      async *GET() {
        try {
          yield "first";
          const left = once(this.signal, "abort");
          waiting.resolve();
          await left;
        } finally {
          ended.resolve(this.signal.reason);
        }
      }
    }
    const errors: unknown[] = [];
    const silent = new Application({ controllers: { Silent }, log: (entry) => errors.push(entry) });
    const reader = (await silent.fetch(new Request("http://localhost/silent"))).body!.getReader();
    await reader.read();
    const pending = reader.read();
    await waiting.promise;
    await reader.cancel();
    assert.equal((await pending).done, true);
    assert.equal(((await ended.promise) as Error).name, "AbortError");
    await new Promise(setImmediate);
    assert.deepEqual(errors, []);
  });

  test("a request that is aborted before the stream exists", async () => {
    arrived = Promise.withResolvers();
    const abort = new AbortController();
    const request = new Request("http://localhost/files", { method: "DELETE", signal: abort.signal });
    const answering = fetch(request);
    await arrived.promise;
    abort.abort();
    await answering;
    assert.equal(opened.size, 1);
    await allClosed();
  });
});

test("a header that cannot be sent releases the stream", async () => {
  const running = await startServer(application(), { host: "127.0.0.1", port: 0, drainTimeout: 100 });
  try {
    assert.equal(await status(running.port, "GET", "/unsendable"), 500);
    await allClosed();
  } finally {
    await running.stop();
  }
});
