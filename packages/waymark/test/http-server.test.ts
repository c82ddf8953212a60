import assert from "node:assert/strict";
import { once } from "node:events";
import { after, test } from "node:test";
import {
  type HttpServerOptions,
  type NodeListener,
  type RunningServer,
  startHttpServer,
} from "../src/server.ts";
import { all, exchange, open } from "./support/raw.ts";

async function serve(
  listener: NodeListener,
  options: Partial<HttpServerOptions> = {},
): Promise<RunningServer> {
  const running = await startHttpServer(listener, { host: "127.0.0.1", port: 0, ...options });
  after(() => running.stop(0));
  return running;
}

const answerOk: NodeListener = (_, response) => void response.end("ok");

test("a listener gets only requests whose head is unambiguous", async () => {
  const { port } = await serve(answerOk);
  const close = "connection: close\r\n\r\n";
  const cases: readonly [string, RegExp][] = [
    [`GET / HTTP/1.1\r\nhost: x\r\n${close}`, /^HTTP\/1\.1 200 .*ok$/s],
    [`GET / HTTP/1.0\r\n${close}`, /^HTTP\/1\.1 200 .*ok$/s],
    [`GET / HTTP/1.1\r\n${close}`, /^HTTP\/1\.1 400 .*has no Host header/s],
    [`GET / HTTP/1.1\r\nhost: x\r\nHOST: y\r\n${close}`, /^HTTP\/1\.1 400 .*does not name one host/s],
    ["GET /\r\nhost: x\r\n\r\n", /^HTTP\/1\.1 400 .*has no HTTP version/s],
    [`GET / HTTP/2.0\r\nhost: x\r\n${close}`, /^HTTP\/1\.1 505 /],
    ["NONSENSE\r\n\r\n", /^HTTP\/1\.1 400 .*not valid HTTP\/1\.1/s],
    [`GET / HTTP/1.1\r\nhost: x\r\nx-large: ${"x".repeat(20_000)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
  ];
  for (const [request, expected] of cases) assert.match(await exchange(port, request), expected);
});

test("further connections than maxConnections are closed at once", async () => {
  const { port } = await serve(answerOk, { maxConnections: 1 });
  const first = await open(port);
  const second = await open(port);
  assert.equal(await all(second), "");
  const text = all(first);
  first.write("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  assert.match(await text, /ok$/);
});

test("stop(0) closes connections with running requests, whatever the option drainTimeout", async () => {
  const requests = Promise.withResolvers<void>();
  const running = await serve(() => requests.resolve(), { drainTimeout: 3_600_000 });
  const socket = await open(running.port);
  const closed = once(socket, "close");
  socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  await requests.promise;
  await running.stop(0);
  await closed;
});
