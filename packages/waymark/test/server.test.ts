import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { after, test } from "node:test";
import { Application, Controller } from "@tollway/waymark";
import { uploads } from "@tollway/waymark/kit/uploads";
import { type RunningServer, type ServerOptions, startServer } from "../src/server.ts";
import { all, open } from "./support/raw.ts";

const events: string[] = [];
let arrived: (event: string) => void = () => undefined;
function note(event: string): void {
  events.push(event);
  arrived(event);
}
/** Resolves when the application records an event, now or later. */
function noted(event: string): Promise<void> {
  return new Promise((resolve) => {
    if (events.includes(event)) return resolve();
    const before = arrived;
    arrived = (each) => {
      before(each);
      if (each === event) resolve();
    };
  });
}

class Default extends Controller {
  GET() {
    return "ok";
  }
  POST({ ...fields }: Record<string, unknown>) {
    return Object.keys(fields).length;
  }
}

class Streams extends Controller {
  async *GET(kind: string) {
    try {
      for (let at = 0; kind === "endless" || at < 3; at++) {
        note(`${kind} ${at}`);
        yield new Uint8Array(64 * 1024);
        if (kind === "broken" && at === 1) throw new Error("broken on the way");
      }
    } finally {
      note(`${kind} ended`);
    }
  }
}

class Waits extends Controller {
  async GET() {
    note("waiting");
    await once(this.signal, "abort");
    note("aborted");
    return "never seen";
  }
}

class Reads extends Controller {
  static override bodyLimit = Number.POSITIVE_INFINITY;
  async POST() {
    let size = 0;
    for await (const piece of this.request.body!) size += piece.length;
    return size;
  }
  async PUT() {
    try {
      return (await this.request.arrayBuffer()).byteLength;
    } catch {
      note("upload broken");
      throw new Error("the upload broke off");
    }
  }
}

class Parts extends Controller {
  async POST() {
    let count = 0;
    for await (const _ of uploads(this)) count++;
    return count;
  }
}

class Node extends Controller {
  GET() {
    return Readable.from([Buffer.from("one "), Buffer.from("two")]);
  }
}

class Large extends Controller {
  GET() {
    return "x".repeat(32 * 1024 * 1024);
  }
}

class Unsendable extends Controller {
  GET() {
    return new Response("x", { headers: [["x-text", "ok"]], status: 200 });
  }
  POST() {
    this.response.headers.set("x-text", "caf\u00e9");
    return "x";
  }
}

const application = new Application({
  controllers: { Default, Streams, Waits, Reads, Parts, Node, Large, Unsendable },
  log: (error, { target }) => note(`${target}: ${(error as Error).message}`),
});

async function serve(options: Partial<ServerOptions> = {}): Promise<RunningServer> {
  const running = await startServer(application, {
    host: "127.0.0.1",
    port: 0,
    drainTimeout: 100,
    ...options,
  });
  after(() => running.stop());
  return running;
}

test("headers that never end get a 408", async () => {
  const { port } = await serve({ headersTimeout: 100, requestTimeout: 200, checkInterval: 20 });
  const socket = await open(port);
  socket.write("GET / HTTP/1.1\r\nhost: x\r\nx-slow: ");
  const text = await all(socket);
  assert.match(text, /^HTTP\/1\.1 408 /);
  assert.match(text, /application\/problem\+json/);
});

test("a request whose body never ends, or never arrives, is disconnected", async () => {
  const { port } = await serve({ headersTimeout: 100, requestTimeout: 150, checkInterval: 20 });
  for (const first of ["a=", ""]) {
    const socket = await open(port);
    socket.write(
      `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: 100\r\n\r\n${first}`,
    );
    assert.match(await all(socket), /^(HTTP\/1\.1 408 .*)?$/s);
  }
});

test("headers that are too large get a 431, invalid HTTP gets a 400, both with problem details", async () => {
  const { port } = await serve();
  const rows: [string, RegExp][] = [
    [`GET / HTTP/1.1\r\nhost: x\r\nx-large: ${"x".repeat(20_000)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
    [`GET /${"x".repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, /^HTTP\/1\.1 431 /],
    ["NONSENSE\r\n\r\n", /^HTTP\/1\.1 400 /],
    ["GET / HTTP/1.1\r\nconnection: close\r\n\r\n", /^HTTP\/1\.1 400 /],
    ["FLY / HTTP/1.1\r\nhost: x\r\n\r\n", /^HTTP\/1\.1 400 /],
    [
      "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
      /^HTTP\/1\.1 400 /,
    ],
    ["POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", /^(HTTP\/1\.1 400 .*)?/],
  ];
  for (const [request, expected] of rows) {
    const socket = await open(port);
    socket.write(request);
    const text = await all(socket);
    assert.match(text, expected);
    if (text !== "") assert.match(text, /application\/problem\+json/);
  }
});

test("an endless body over the limit gets a 413, and the connection closes", async () => {
  const { port } = await serve();
  const socket = await open(port);
  socket.write(
    "POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
  );
  const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
  const send = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on("drain", send);
  send();
  const text = await all(socket);
  assert.match(text, /^HTTP\/1\.1 413 /);
  assert.match(text, /connection: close/i);
});

test("a client that waits for 100 Continue is rejected before it sends a byte, or receives it", async () => {
  const { port } = await serve();
  const request = (length: number) =>
    `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n`;
  const refused = await open(port);
  refused.write(request(50_000_000));
  assert.match(await all(refused), /^HTTP\/1\.1 413 /);
  const invited = await open(port);
  const text = all(invited);
  invited.write(request(2));
  await once(invited, "data");
  invited.write("{}");
  assert.match(await text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
});

test("a client that goes away aborts the handler", async () => {
  const { port } = await serve();
  const socket = await open(port);
  socket.write("GET /waits HTTP/1.1\r\nhost: x\r\n\r\n");
  await noted("waiting");
  socket.destroy();
  await noted("aborted");
});

test("a stream is produced at the reader's pace and ends when the reader leaves", async () => {
  const { port } = await serve();
  const socket = await open(port);
  socket.pause();
  socket.write("GET /streams/endless HTTP/1.1\r\nhost: x\r\n\r\n");
  await noted("endless 0");
  let before = -1;
  // The source pauses once the buffers between it and the reader are full.
  for (let quiet = 0; quiet < 5; ) {
    const count = events.filter((event) => event.startsWith("endless ")).length;
    quiet = count === before ? quiet + 1 : 0;
    before = count;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.ok(before < 400, `${before} pieces of 64 KiB for a reader that takes none`);
  socket.destroy();
  await noted("endless ended");
});

test("a client that does not read is disconnected after the send timeout", async () => {
  const { port, server } = await serve({ sendTimeout: 100 });
  for (const path of ["/streams/endless", "/large"]) {
    const socket = await open(port);
    const received = all(socket);
    const cut = new Promise((resolve) =>
      server.once("request", (_, response) => response.on("close", resolve)),
    );
    socket.pause();
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await cut;
    socket.resume();
    const text = await received;
    assert.ok(text.length < 30 * 1024 * 1024, "the answer was not completed");
  }
});

test("a stream that fails ends the connection, so that it cannot be mistaken for a complete one", async () => {
  const { port } = await serve();
  await assert.rejects(fetch(`http://127.0.0.1:${port}/streams/broken`).then((response) => response.text()));
  await noted("broken ended");
  await noted("/streams/broken: broken on the way");
});

test("an upload is read at the handler's pace, and its failure is detected", async () => {
  const { port } = await serve();
  const pieces = Array.from({ length: 64 }, () => new Uint8Array(64 * 1024));
  const init = { method: "POST", body: ReadableStream.from(pieces), duplex: "half" } as RequestInit;
  assert.equal(await (await fetch(`http://127.0.0.1:${port}/reads`, init)).json(), 64 * 64 * 1024);
  const socket = await open(port);
  socket.write("PUT /reads HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\nabc");
  setTimeout(() => socket.destroy(), 30);
  await noted("upload broken");
});

test("a request without a body is read like an empty body", async () => {
  const { port } = await serve();
  const multipart = "content-type: multipart/form-data; boundary=b\r\n";
  const rows: [string, string][] = [
    ["PUT /reads HTTP/1.1\r\n", "200 0"],
    ["PUT /reads HTTP/1.1\r\ncontent-length: 0\r\n", "200 0"],
    ["POST / HTTP/1.1\r\n", "200 0"],
    [`POST / HTTP/1.1\r\n${multipart}`, "200 0"],
    [`POST /parts HTTP/1.1\r\n${multipart}`, "400"],
    [`POST /parts HTTP/1.1\r\n${multipart}content-length: 0\r\n`, "400"],
  ];
  for (const [head, expected] of rows) {
    const socket = await open(port);
    socket.write(`${head}host: x\r\nconnection: close\r\n\r\n`);
    const [status, body] = (await all(socket)).slice("HTTP/1.1 ".length).split("\r\n\r\n");
    assert.equal(expected.includes(" ") ? `${status!.slice(0, 3)} ${body}` : status!.slice(0, 3), expected);
  }
});

test("a listener of one's own receives the end of every body", async () => {
  const { port } = await serve({
    listener: () => (request, response) => {
      request.resume().on("end", () => response.end("ended"));
    },
  });
  assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), "ended");
});

test("a Node stream is an answer", async () => {
  const { port } = await serve();
  assert.equal(await (await fetch(`http://127.0.0.1:${port}/node`)).text(), "one two");
});

test("one connection carries many requests, also after an error", async () => {
  const { port } = await serve();
  const socket = await open(port);
  const text = all(socket);
  socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\nGET /nowhere/at/all HTTP/1.1\r\nhost: x\r\n\r\n");
  socket.write("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  assert.deepEqual(
    [...(await text).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
    ["200", "404", "200"],
  );
});

test("a header that Latin-1 can carry is sent", async () => {
  const { port } = await serve();
  const response = await fetch(`http://127.0.0.1:${port}/unsendable`, { method: "POST" });
  assert.equal(response.headers.get("x-text"), "caf\u00e9");
});

test("the listener works in any node:http server", async () => {
  await application.ready();
  const server = createServer(application.listener).listen(0, "127.0.0.1");
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).json(), "ok");
});

test("the application's own limits apply if the caller gives none", async () => {
  const limited = new Application({
    controllers: { Default },
    server: { maxHeaderSize: 300, headersTimeout: 0 },
  });
  const running = await startServer(limited, { host: "127.0.0.1", port: 0 });
  after(() => running.stop());
  const url = `http://127.0.0.1:${running.port}/`;
  assert.equal((await fetch(url, { headers: { "x-large": "x".repeat(400) } })).status, 431);
});
