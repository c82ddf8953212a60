import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { Application, Controller } from "@tollway/waymark";
import { type RunningServer, startServer } from "../src/server.ts";
import { exchange } from "./support/raw.ts";

const TEXT = "a text that was compressed\n".repeat(50);
const BODIES: Record<string, [Buffer, string?]> = {
  gzip: [gzipSync(TEXT), "gzip"],
  br: [brotliCompressSync(TEXT), "br"],
  twice: [brotliCompressSync(gzipSync(TEXT)), "gzip, br"],
  plain: [Buffer.from(TEXT)],
  unknown: [Buffer.from(TEXT), "x-own"],
};

const upstream = createServer((request, response) => {
  const [body, encoding] = BODIES[request.url!.slice(1)] ?? BODIES.plain!;
  response.writeHead(200, {
    "content-type": "text/plain",
    "content-length": body.length,
    connection: "keep-alive, x-own-hop",
    "keep-alive": "timeout=5",
    "x-own-hop": "1",
    "x-end-to-end": "2",
    "proxy-authenticate": "Basic",
    te: "trailers",
    ...(encoding === undefined ? {} : { "content-encoding": encoding }),
  });
  response.end(body);
});
let from = "";

class Default extends Controller {
  GET(kind: string) {
    return fetch(from + kind);
  }
  /** Like a proxy that adds a header. */
  async PUT(kind: string) {
    const response = await fetch(from + kind);
    const headers = new Headers(response.headers);
    headers.set("x-added", "3");
    return new Response(response.body, { status: response.status, headers });
  }
  /** Requests less than its own client did. */
  PATCH(kind: string) {
    return fetch(from + kind, { method: "HEAD" });
  }
  POST() {
    return new Response(gzipSync(TEXT), { headers: { "content-encoding": "gzip" } });
  }
}

let running: RunningServer;
before(async () => {
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
  from = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/`;
  running = await startServer(new Application({ controllers: { Default } }), { host: "127.0.0.1", port: 0 });
});
after(async () => {
  await running.stop();
  upstream.closeAllConnections();
  upstream.close();
});

function own(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${running.port}/${path}`, init);
}

test("a fetched response is passed on without the upstream's hop-by-hop headers", async () => {
  for (const [kind, [body, encoding]] of Object.entries(BODIES)) {
    const response = await own(kind);
    assert.equal(await response.text(), TEXT, kind);
    const decoded = encoding !== undefined && encoding !== "x-own";
    assert.equal(response.headers.get("content-encoding"), decoded ? null : (encoding ?? null), kind);
    assert.equal(response.headers.get("content-length"), decoded ? null : String(body.length), kind);
    assert.equal(response.headers.get("x-end-to-end"), "2");
    for (const name of ["x-own-hop", "te", "proxy-authenticate"])
      assert.equal(response.headers.get(name), null, name);
    assert.doesNotMatch(response.headers.get("keep-alive") ?? "", /timeout=5\b(?!\d)/);
  }
});

test("a response made from a fetched one has no hop-by-hop headers either", async () => {
  const response = await own("plain", { method: "PUT" });
  assert.equal(await response.text(), TEXT);
  assert.equal(response.headers.get("x-added"), "3");
  assert.equal(response.headers.get("x-own-hop"), null);
});

test("HEAD keeps the length of the GET answer if it is known", async () => {
  assert.equal((await own("plain", { method: "HEAD" })).headers.get("content-length"), String(TEXT.length));
  assert.equal((await own("gzip", { method: "HEAD" })).headers.get("content-length"), null);
});

test("a response without a body has no foreign length", async () => {
  const text = await exchange(running.port, "PATCH /plain HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  assert.match(text, /\r\ncontent-length: 0\r\n/);
});

test("a body that the method has encoded keeps its content coding", async () => {
  const response = await own("", { method: "POST" });
  assert.equal(response.headers.get("content-encoding"), "gzip");
  assert.equal(await response.text(), TEXT);
});
