import assert from "node:assert/strict";
import type { WsgiApplication, WsgiEnviron, WsgiInput } from "../../src/serve/wsgi/wsgi-types.ts";
import type { CaseAnswer, CaseRequest, Driver } from "../table/case.ts";

export interface ServerOptions {
  readonly environ?: Readonly<Record<string, unknown>>;
  /** Reads this many pieces, then closes, like a server whose client has left. */
  readonly take?: number;
  /** Called with each piece before the next one is read. */
  onPiece?(piece: Uint8Array): void | Promise<void>;
}

export interface Outcome extends CaseAnswer {
  readonly statusLine: string;
  readonly pieces: readonly Uint8Array[];
  /** The error of the iteration after the headers were sent. */
  readonly thrown: unknown;
  readonly closed: boolean;
}

/** An in-process WSGI server with the checks of `wsgiref.validate`. */
export async function serveWsgi(
  application: WsgiApplication,
  request: CaseRequest,
  { environ = {}, take = Number.POSITIVE_INFINITY, onPiece }: ServerOptions = {},
): Promise<Outcome> {
  assert.equal(application.length, 2, "the callable takes environ and start_response");
  let head: { line: string; headers: [string, string][] } | undefined;
  let sent = false;
  const startResponse = (line: string, headers: [string, string][], excInfo?: unknown) => {
    checkHead(line, headers);
    assert.ok(
      head === undefined || excInfo !== undefined,
      "start_response is called twice only with exc_info",
    );
    if (sent) throw excInfo;
    head = { line, headers };
    return () => Promise.reject(new Error("write() was called"));
  };
  const result = await application({ ...environOf(request), ...environ } as WsgiEnviron, startResponse);
  assert.ok(head !== undefined, "start_response was called before the result was returned");
  const pieces: Uint8Array[] = [];
  let thrown: unknown;
  const iterator = result[Symbol.asyncIterator]();
  try {
    while (pieces.length < take) {
      const step = await iterator.next();
      if (step.done === true) break;
      assert.ok(step.value instanceof Uint8Array, "pieces are bytes");
      // The first piece may be empty. Most servers then send the head of an event stream.
      const opens: boolean = pieces.length === 0 && isEventStream(head);
      assert.ok(step.value.length > 0 || opens, "an empty piece sends nothing and costs a turn");
      sent = true;
      pieces.push(step.value);
      await onPiece?.(step.value);
    }
  } catch (error) {
    thrown = error;
  }
  await result.close();
  if (pieces.length < take) assert.equal((await iterator.next()).done, true, "nothing comes after close()");
  const { line, headers } = head as { line: string; headers: [string, string][] };
  const status = Number(line.slice(0, 3));
  const names = headers.map(([name]) => name);
  if (status === 204 || status === 304) assert.ok(!names.includes("content-type"), `${status} has no type`);
  else if (pieces.length > 0) assert.ok(names.includes("content-type"), "a body has a content type");
  if (request.method === "HEAD") assert.equal(pieces.length, 0, "HEAD has no body");
  return { status, headers, body: Buffer.concat(pieces), statusLine: line, pieces, thrown, closed: true };
}

function isEventStream(head: unknown): boolean {
  const { headers } = head as { headers: [string, string][] };
  return headers.some(([name, value]) => name === "content-type" && value === "text/event-stream");
}

/** Sends requests through the callable, like a server that provides the raw target. */
export function wsgiDriver(application: WsgiApplication): Driver {
  return async (request) => {
    const outcome = await serveWsgi(application, request);
    if (outcome.thrown !== undefined) throw outcome.thrown;
    return outcome;
  };
}

/** The rules of "The start_response() Callable" in PEP 3333, as `wsgiref.validate` checks them. */
function checkHead(line: string, headers: [string, string][]): void {
  assert.equal(typeof line, "string");
  assert.match(line, /^[2-5]\d\d [^\r\n\0]+$/, "a status of three digits, a space, a reason");
  assert.ok(Array.isArray(headers));
  for (const pair of headers) {
    assert.equal(pair.length, 2);
    const [name, value] = pair;
    assert.equal(typeof name, "string");
    assert.equal(typeof value, "string");
    assert.notEqual(name.toLowerCase(), "status", "the status is not a header");
    assert.match(name, /^[a-zA-Z][a-zA-Z0-9\-_]*$/);
    assert.doesNotMatch(name, /[-_]$/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what must not be there.
    assert.doesNotMatch(value, /[\0-\x08\x0a-\x1f\x7f]/, `control character in ${name}`);
    assert.match(value, /^[\0-\xff]*$/, "values are Latin-1");
    assert.ok(!/^(connection|keep-alive|proxy-.*|te|trailers?|transfer-encoding|upgrade)$/i.test(name), name);
  }
}

export function environOf({ method, target, headers, body, chunked }: CaseRequest): WsgiEnviron {
  const mark = target.indexOf("?");
  const raw = mark === -1 ? target : target.slice(0, mark);
  const environ: Record<string, unknown> = {
    REQUEST_METHOD: method,
    SCRIPT_NAME: "",
    PATH_INFO: unquoted(raw),
    QUERY_STRING: mark === -1 ? "" : target.slice(mark + 1),
    REQUEST_URI: target,
    SERVER_NAME: "localhost",
    SERVER_PORT: "8000",
    SERVER_PROTOCOL: "HTTP/1.1",
    REMOTE_ADDR: "127.0.0.1",
    HTTP_HOST: "localhost",
    CONTENT_TYPE: "",
    CONTENT_LENGTH: body !== undefined && chunked === undefined ? String(body.length) : "",
    "wsgi.version": [1, 0],
    "wsgi.url_scheme": "http",
    "wsgi.input": inputOf(body ?? new Uint8Array(), chunked),
    "wsgi.errors": { write: () => undefined, flush: () => undefined },
    "wsgi.multithread": false,
    "wsgi.multiprocess": true,
    "wsgi.run_once": false,
  };
  if (chunked !== undefined) {
    environ["wsgi.input_terminated"] = true;
    environ.HTTP_TRANSFER_ENCODING = "chunked";
  }
  for (const [name, value] of headers) {
    const key = name.toUpperCase().replaceAll("-", "_");
    environ[key === "CONTENT_TYPE" ? key : `HTTP_${key}`] = value;
  }
  return environ as WsgiEnviron;
}

/** Fails on reads beyond the body, where a socket would block. */
function inputOf(body: Uint8Array, chunked: number | undefined): WsgiInput {
  let at = 0;
  let ended = false;
  return {
    async read(size = Number.POSITIVE_INFINITY) {
      assert.ok(!ended, "the input was read beyond its end");
      if (chunked === undefined)
        assert.ok(at + size <= body.length, "the input was read beyond CONTENT_LENGTH");
      const piece = body.subarray(at, at + Math.min(size, chunked ?? size));
      at += piece.length;
      if (piece.length === 0) ended = true;
      return piece;
    },
    [Symbol.asyncIterator]: () => assert.fail("the input is read with read()"),
  };
}

function unquoted(raw: string): string {
  return raw.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
