import assert from "node:assert/strict";
import type {
  AsgiApplication,
  AsgiHttpScope,
  AsgiReceived,
  AsgiSent,
} from "../../src/serve/asgi/asgi-types.ts";
import type { CaseAnswer, CaseRequest, Driver } from "../table/case.ts";

/** Options of a request in addition to its row. */
export interface ServerOptions {
  readonly scope?: Partial<AsgiHttpScope>;
  /** Called for each event from the application, before the server accepts it. */
  onSend?(event: AsgiSent): void | Promise<void>;
  /** Settles when the client goes away. */
  readonly left?: Promise<void>;
}

/** The outcome of one request: the answer so far, whether it is complete, and the application's error. */
export interface Outcome extends CaseAnswer {
  readonly events: readonly AsgiSent[];
  readonly complete: boolean;
  readonly thrown: unknown;
  /** Number of calls of `receive`. */
  readonly received: number;
}

/** An in-process ASGI server that checks every rule of the specification for applications. */
export async function serveAsgi(
  application: AsgiApplication,
  request: CaseRequest,
  { scope = {}, onSend, left = new Promise(() => undefined) }: ServerOptions = {},
): Promise<Outcome> {
  assert.equal(application.length, 3, "the callable takes scope, receive and send");
  const events: AsgiSent[] = [];
  const given = eventsOf(request);
  const completed = Promise.withResolvers<void>();
  let received = 0;
  let waiting = false;
  let sending = false;
  let returned = false;
  let complete = false;
  const receive = async (): Promise<AsgiReceived> => {
    assert.ok(!returned, "receive() was called after the application had returned");
    assert.ok(!waiting, "receive() was called while another call was waiting");
    received++;
    waiting = true;
    const event = given.shift();
    if (event === undefined) await Promise.race([left, completed.promise]);
    waiting = false;
    return event ?? { type: "http.disconnect" };
  };
  const send = async (event: AsgiSent): Promise<void> => {
    assert.ok(!returned, "send() was called after the application had returned");
    assert.ok(!sending, "send() was called while another call was waiting");
    assert.ok(!complete, "send() was called after the answer was complete");
    checkEvent(event, events, request.method);
    sending = true;
    await onSend?.(event);
    sending = false;
    events.push(event);
    if (event.type === "http.response.body" && !event.more_body) {
      complete = true;
      completed.resolve();
    }
  };
  let thrown: unknown;
  try {
    await application({ ...scopeOf(request), ...scope }, receive, send);
  } catch (error) {
    thrown = error;
  }
  returned = true;
  completed.resolve();
  return { ...answerOf(events), events, complete, thrown, received };
}

/** Sends requests through the callable and checks every message. */
export function asgiDriver(application: AsgiApplication): Driver {
  return async (request) => {
    const outcome = await serveAsgi(application, request);
    if (outcome.thrown !== undefined) throw outcome.thrown;
    assert.ok(outcome.complete, "the application returned without completing its answer");
    return outcome;
  };
}

function scopeOf({ method, target, headers, body, chunked }: CaseRequest): AsgiHttpScope {
  const mark = target.indexOf("?");
  const raw = mark === -1 ? target : target.slice(0, mark);
  const all = [...(headers as [string, string][])];
  if (!all.some(([name]) => name === "host")) all.unshift(["host", "localhost"]);
  if (body !== undefined)
    all.push(
      chunked === undefined ? ["content-length", String(body.length)] : ["transfer-encoding", "chunked"],
    );
  return {
    type: "http",
    asgi: { version: "3.0", spec_version: "2.3" },
    http_version: "1.1",
    method,
    scheme: "http",
    path: unquoted(raw),
    raw_path: bytes(raw),
    query_string: bytes(mark === -1 ? "" : target.slice(mark + 1)),
    root_path: "",
    headers: all.map(([name, value]) => [bytes(name), bytes(value)]),
    client: ["127.0.0.1", 50_000],
    server: ["127.0.0.1", 8000],
  };
}

function eventsOf({ body, chunked }: CaseRequest): AsgiReceived[] {
  // Both keys may be absent: their defaults are part of the specification.
  if (body === undefined) return [{ type: "http.request" }];
  if (chunked === undefined) return [{ type: "http.request", body }];
  const events: AsgiReceived[] = [];
  for (let at = 0; at < body.length; at += chunked)
    events.push({ type: "http.request", body: body.subarray(at, at + chunked), more_body: true });
  events.push({ type: "http.request", more_body: false });
  return events;
}

/** The rules of "Response Start" and "Response Body" in the specification. */
function checkEvent(event: AsgiSent, before: readonly AsgiSent[], method: string): void {
  if (event.type === "http.response.start") {
    assert.equal(before.length, 0, "http.response.start comes first, and once");
    assert.ok(Number.isInteger(event.status) && event.status >= 200 && event.status <= 599, "status");
    assert.ok(Array.isArray(event.headers), "headers");
    for (const pair of event.headers) {
      assert.equal(pair.length, 2);
      for (const part of pair) assert.ok(part instanceof Uint8Array, "header names and values are bytes");
      const [name, value] = pair.map((part: Uint8Array) => Buffer.from(part).toString("latin1")) as [
        string,
        string,
      ];
      assert.match(name, /^[!#$%&'*+.^_`|~0-9a-z-]+$/, "header names are tokens in lower case");
      assert.doesNotMatch(
        value,
        /[\0\r\n]|^\s|\s$/,
        "header values have no line ends and no space around them",
      );
      assert.notEqual(name, "transfer-encoding", "transfer-encoding is the server's");
      assert.notEqual(name, "connection", "connection is the server's");
    }
    assert.deepEqual(Object.keys(event).sort(), ["headers", "status", "type"]);
    return;
  }
  assert.equal(event.type, "http.response.body", "no other event belongs to an HTTP answer");
  if (event.type !== "http.response.body") return;
  assert.equal(before[0]?.type, "http.response.start", "http.response.body comes after http.response.start");
  assert.ok(event.body instanceof Uint8Array, "body is bytes");
  assert.equal(typeof event.more_body, "boolean");
  if (method === "HEAD") assert.equal(event.body.length, 0, "HEAD has no body");
  assert.deepEqual(Object.keys(event).sort(), ["body", "more_body", "type"]);
}

function answerOf(events: readonly AsgiSent[]): CaseAnswer {
  const [start] = events;
  if (start?.type !== "http.response.start") return { status: 0, headers: [], body: new Uint8Array() };
  const pieces = events.flatMap((event) => (event.type === "http.response.body" ? [event.body] : []));
  return {
    status: start.status,
    headers: start.headers.map(([name, value]) => [text(name), text(value)] as const),
    body: Buffer.concat(pieces),
  };
}

function unquoted(raw: string): string {
  const decoded = raw.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(decoded, "latin1").toString("utf8");
}

function bytes(value: string): Uint8Array {
  return new Uint8Array(Buffer.from(value, "latin1"));
}

function text(value: Uint8Array): string {
  return Buffer.from(value).toString("latin1");
}
