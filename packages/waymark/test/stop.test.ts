import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Application, Controller, HttpError } from "@tollway/waymark";
import { asgiListener } from "../src/serve/node/asgi-listener.ts";
import { nodeListener } from "../src/serve/node/node-adapter.ts";
import { startServer } from "../src/serve/node/node-server.ts";
import { wsgiListener } from "../src/serve/node/wsgi-listener.ts";
import { all, open } from "./support/raw.ts";

let events: string[] = [];

class Default extends Controller {
  GET() {
    return "ok";
  }
}

/** Endless event streams that react to a stop in different ways, or not at all. */
class Streams extends Controller {
  async *GET(kind: string) {
    try {
      yield "data: first\n\n";
      if (kind === "deaf") await new Promise(() => undefined);
      await once(this.signal, "abort").catch(() => undefined);
      events.push((this.signal.reason as Error).message);
      yield "data: goodbye\n\n";
    } finally {
      events.push("ended");
    }
  }
  /** Has not sent an event yet. */
  async *POST() {
    await new Promise(() => undefined);
    yield "";
  }
}

const REQUEST = "HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\n\r\n";
/** Far longer than a stop takes here, and far longer than the test waits. */
const DRAIN = 60_000;

for (const [name, listener] of [
  ["node", nodeListener],
  ["asgi", asgiListener],
  ["wsgi", wsgiListener],
] as const) {
  test(`${name}: a stop ends the event streams cleanly and does not wait for its timeout`, async () => {
    const application = new Application({ controllers: { Default, Streams } });
    const options = { host: "127.0.0.1", port: 0, drainTimeout: DRAIN, listener };
    const running = await startServer(application, options);
    events = [];
    const polite = await open(running.port);
    const deaf = await open(running.port);
    const texts = [all(polite), all(deaf)];
    polite.write(`GET /streams/polite ${REQUEST}`);
    deaf.write(`GET /streams/deaf ${REQUEST}`);
    await Promise.all([once(polite, "data"), once(deaf, "data")]);
    const before = performance.now();
    await running.stop();
    assert.ok(performance.now() - before < DRAIN / 2);
    const [first, second] = await Promise.all(texts);
    assert.match(first!, /text\/event-stream/);
    assert.match(first!, /data: first[\s\S]*data: goodbye[\s\S]*\r\n0\r\n\r\n$/);
    assert.match(second!, /data: first[\s\S]*\r\n0\r\n\r\n$/);
    assert.ok(events.includes("the server is stopping"));
  });

  test(`${name}: an event stream opens before its first event, and ends with a stop before it has one`, async () => {
    const application = new Application({ controllers: { Streams } });
    const options = { host: "127.0.0.1", port: 0, drainTimeout: DRAIN, listener };
    const running = await startServer(application, options);
    const socket = await open(running.port);
    const text = all(socket);
    socket.write(`POST /streams ${REQUEST}`);
    const [head] = (await once(socket, "data")) as [Buffer];
    assert.match(head.toString(), /^HTTP\/1\.1 200 OK\r\ncontent-type: text\/event-stream\r\n/);
    await running.stop();
    assert.match(await text, /\r\n0\r\n\r\n$/);
  });
}

test("a request after stop() gets 503 and starts nothing; ready() starts again", async () => {
  const calls: string[] = [];
  const application = new Application({
    controllers: { Default, Streams },
    onStart: () => calls.push("start"),
    async onStop() {
      await Promise.resolve();
      calls.push("stop");
    },
  });
  const status = async () => (await application.fetch(new Request("http://localhost/"))).status;
  assert.equal(await status(), 200);
  const stopping = application.stop();
  await Promise.resolve();
  assert.equal(await status(), 503, "while it stops");
  await stopping;
  await application.stop();
  assert.equal(await status(), 503);
  assert.deepEqual(calls, ["start", "stop"]);
  await application.ready();
  assert.equal(await status(), 200);
  const again = application.stop();
  const restarted = application.ready();
  await Promise.all([again, restarted]);
  assert.deepEqual(calls, ["start", "stop", "start", "stop", "start"]);
  assert.equal(await status(), 200);
  // A stop during a start that waits for an earlier stop.
  const last = [application.stop(), application.ready(), application.stop()];
  await Promise.allSettled(last);
  assert.equal(await status(), 503);
  assert.deepEqual(calls.slice(-3), ["stop", "start", "stop"]);
});

test("a request does not start an application that was stopped before its start", async () => {
  const application = new Application({
    controllers: { Default },
    onStart() {
      throw new HttpError(500, "started");
    },
  });
  await application.stop();
  assert.equal((await application.fetch(new Request("http://localhost/"))).status, 503);
});

test("an event stream that opens while the server stops ends at once", async () => {
  const application = new Application({ controllers: { Streams } });
  await application.ready();
  application.closeEventStreams();
  const headers = { accept: "text/event-stream" };
  const response = await application.fetch(new Request("http://localhost/streams/deaf", { headers }));
  assert.match(await response.text(), /^(data: first\n\n)?$/);
});
