/** Server-sent events from objects, and the client that reads them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Application, Controller, HttpError, ServerSentEvent } from "@tollway/waymark";
import { client } from "@tollway/waymark/client";
import { heartbeat, lastEventId } from "@tollway/waymark/kit";
import { startServer } from "../src/server.ts";
import { Project } from "./support/project.ts";

interface Tick {
  tick: number;
}

let wake = Promise.withResolvers<void>();

class Ticks extends Controller {
  async *GET({ count = 3 }: { count?: number }): AsyncGenerator<ServerSentEvent<Tick>> {
    const from = Number(lastEventId(this) ?? 0);
    yield new ServerSentEvent({ retry: 5 });
    for (let tick = from + 1; tick <= count; tick++)
      yield new ServerSentEvent({ id: tick, ...(tick === 2 && { event: "second" }), data: { tick } });
  }
  POST() {
    return heartbeat(silent(), 5);
  }
  async *PUT(kind: "event" | "id" | "null" | "retry"): AsyncGenerator<unknown> {
    if (kind === "event") yield new ServerSentEvent({ event: "a\ndata: forged", data: 1 });
    if (kind === "id") yield new ServerSentEvent({ id: "1\r\rdata: forged", data: 1 });
    if (kind === "null") yield new ServerSentEvent({ id: "1\0", data: 1 });
    if (kind === "retry") yield new ServerSentEvent({ retry: Number.NaN, data: 1 });
  }
  PATCH() {
    return lastEventId(this) ?? "none";
  }
  DELETE(): AsyncGenerator<ServerSentEvent<Tick>> {
    throw new HttpError(409, "no ticks");
  }
}

async function* silent() {
  yield new ServerSentEvent({ data: "first" });
  await wake.promise;
  yield new ServerSentEvent({ data: "line\nend", event: "last" });
}

const application = new Application({ controllers: { Ticks }, log: () => undefined });

async function ask(method: string, path: string, headers: Record<string, string> = {}): Promise<Response> {
  return application.fetch(new Request(`http://localhost/ticks${path}`, { method, headers }));
}

const EVENTS = { accept: "text/event-stream" };

test("events have their fields, and a stream of lines has their data", async () => {
  const response = await ask("GET", "?count=2", EVENTS);
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  assert.equal(
    await response.text(),
    'retry: 5\n\nid: 1\ndata: {"tick":1}\n\nevent: second\nid: 2\ndata: {"tick":2}\n\n',
  );
  const lines = await ask("GET", "?count=2");
  assert.equal(lines.headers.get("content-type"), "application/x-ndjson");
  assert.equal(await lines.text(), '{"tick":1}\n{"tick":2}\n');
  assert.equal(
    await (await ask("GET", "", { ...EVENTS, "last-event-id": "2" })).text(),
    'retry: 5\n\nid: 3\ndata: {"tick":3}\n\n',
  );
});

test("the id of a reconnecting client is text in UTF-8, whatever it sends", async () => {
  const rows: [string | undefined, string][] = [
    [undefined, "none"],
    ["", "none"],
    ["7", "7"],
    [Buffer.from("é€").toString("latin1"), "é€"],
    ["\xff", "\xff"],
  ];
  for (const [sent, expected] of rows) {
    const response = await ask("PATCH", "", sent === undefined ? {} : { "last-event-id": sent });
    assert.equal(await response.json(), expected);
  }
});

test("no field of an event can forge another one", async () => {
  for (const kind of ["event", "id", "null", "retry"])
    assert.equal((await ask("PUT", `/${kind}`, EVENTS)).status, 500, kind);
});

test("a heartbeat fills the silence of events, and adds nothing to lines", async () => {
  for (const headers of [EVENTS, {}]) {
    wake = Promise.withResolvers();
    const response = await ask("POST", "", headers);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const isQuiet = () => text.includes(":\n\n:\n\n");
    const isEvents = headers === EVENTS;
    do text += (await reader.read()).value ?? "";
    while (isEvents && !isQuiet());
    wake.resolve();
    for (let step = await reader.read(); !step.done; step = await reader.read()) text += step.value;
    if (isEvents) {
      assert.match(text, /^data: "first"\n\n(:\n\n)+event: last\ndata: "line\\nend"\n\n$/);
    } else assert.equal(text, '"first"\n"line\\nend"\n');
  }
  for (const time of [0, -1, Number.NaN, 2 ** 31])
    assert.throws(() => heartbeat(silent(), time), /milliseconds/);
});

test("a heartbeat releases its stream, also during a silence", async () => {
  const ended = Promise.withResolvers<void>();
  const source: AsyncIterable<never> = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise(() => undefined),
      return: async () => {
        ended.resolve();
        return { done: true, value: undefined };
      },
    }),
  };
  const iterator = heartbeat(source, 1)[Symbol.asyncIterator]();
  assert.ok(ServerSentEvent.is((await iterator.next()).value));
  await iterator.return!();
  await ended.promise;
});

test("the client yields data, event and id over a socket, or the data alone", async () => {
  const running = await startServer(application, { host: "127.0.0.1", port: 0 });
  try {
    const api = client<{ "": { Ticks: typeof Ticks } }>(`http://127.0.0.1:${running.port}`);
    const found: [number, string, string | undefined][] = [];
    for await (const { data, event, id } of await api.ticks.GET.events({ count: 2 }))
      found.push([data.tick, event, id]);
    assert.deepEqual(found, [
      [1, "message", "1"],
      [2, "second", "2"],
    ]);
    const later = api.ticks.GET.with({ headers: { "last-event-id": "2" } });
    for await (const { data } of await later.events()) assert.equal(data.tick, 3);
    for await (const { tick } of await api.ticks.GET({ count: 1 })) assert.equal(tick, 1);
    const events = api.ticks.GET.with({ events: true });
    for await (const { tick } of await events({ count: 1 })) assert.equal(tick, 1);
    await assert.rejects(api.ticks.DELETE.events(), /409/);
    await assert.rejects(async () => {
      for await (const _ of await api.ticks.PATCH.events());
    }, /is not a stream of events, but application\/json/);
  } finally {
    await running.stop();
  }
});

test("a written type projects the data of events, and the document has its schema", async () => {
  const project = new Project({
    "controllers.ts": `
      import { Controller, ServerSentEvent } from "@tollway/waymark";
      interface Book { id: number; title: string }
      const row = { id: 1, title: "Emma", secret: "s" };
      export class Books extends Controller {
        async *GET(): AsyncGenerator<ServerSentEvent<Book>> {
          yield new ServerSentEvent({ retry: 1 });
          yield new ServerSentEvent({ event: "added", id: 7, data: row });
        }
        async *POST(): AsyncIterable<ServerSentEvent> { yield new ServerSentEvent({ data: row }); }
      }`,
  });
  const own = new Application({ controllerPrefix: "controllers", directory: project.folder });
  const read = async (method: string, headers: Record<string, string>) =>
    (await own.fetch(new Request("http://localhost/books", { method, headers }))).text();
  assert.equal(
    await read("GET", EVENTS),
    'retry: 1\n\nevent: added\nid: 7\ndata: {"id":1,"title":"Emma"}\n\n',
  );
  assert.equal(await read("GET", {}), '{"id":1,"title":"Emma"}\n');
  assert.match(await read("POST", {}), /"secret"/);
  const { status, stdout, stderr } = await project.run(["openapi", "--prefix=controllers"]);
  assert.equal(status, 0, stderr);
  const { content } = JSON.parse(stdout).paths["/books"].get.responses["200"];
  assert.deepEqual(Object.keys(content), ["application/x-ndjson", "text/event-stream"]);
  assert.match(JSON.stringify(content), /Book/);
});
