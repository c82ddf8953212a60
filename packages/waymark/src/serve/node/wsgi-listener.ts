import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Answer, isStream, type StreamBody } from "../../http/answer.ts";
import { HttpError, problemAnswer } from "../../http/http-error.ts";
import type { RequestHandler } from "../handler.ts";
import type {
  StartResponse,
  WsgiApplication,
  WsgiEnviron,
  WsgiInput,
  WsgiResult,
} from "../wsgi/wsgi-types.ts";
import { type NodeAdapterOptions, type NodeListener, refuseVersion, sendAnswer } from "./node-adapter.ts";
import { NodeBody } from "./node-body.ts";
import { NodeIncoming } from "./node-incoming.ts";

type WsgiServed = Pick<RequestHandler, "report"> & { readonly wsgi: WsgiApplication };

/** Serves through the WSGI callable. `waymark --interface=wsgi` puts it behind `node:http`. */
export function wsgiListener(application: WsgiServed, options: NodeAdapterOptions = {}): NodeListener {
  const { sendTimeout = 60_000, expectsContinue = false } = options;
  return (request, response) => {
    if (refuseVersion(request, response)) return;
    const incoming = new NodeIncoming(request, response, expectsContinue);
    const body = new NodeBody(incoming, request);
    const report = (error: unknown) => application.report(error, incoming);
    const failed = (error: unknown) => {
      report(error);
      return problemAnswer(new HttpError(500));
    };
    void answerOf(application, environOf(incoming, request, body), response)
      .catch(failed)
      .then((answer) => {
        if (!isStream(answer.body)) body.release();
        sendAnswer(incoming, request, response, answer, sendTimeout, report);
      });
  };
}

/** Sends the headers with the first piece of the body, so that an earlier error can still change them. */
async function answerOf(
  application: WsgiServed,
  environ: WsgiEnviron,
  response: ServerResponse,
): Promise<Answer> {
  let status = 500;
  let headers: string[] = [];
  let sent = false;
  const startResponse: StartResponse = (line, pairs, excInfo) => {
    if (sent) throw excInfo ?? new Error("start_response was called after the headers were sent");
    status = Number(line.slice(0, 3));
    headers = pairs.flat();
    return () =>
      Promise.reject(new Error("write() is not supported: only applications older than PEP 333 need it"));
  };
  const result = await application.wsgi(environ, startResponse);
  const iterator = result[Symbol.asyncIterator]();
  const closed = () => void result.close();
  if (response.destroyed) closed();
  else response.once("close", closed);
  const first = await iterator.next();
  sent = true;
  if (first.done === true) return { status, headers, body: null };
  const length = headers.indexOf("content-length");
  const whole = length !== -1 && Number(headers[length + 1]) === first.value.length;
  return { status, headers, body: whole ? first.value : piecesOf(first.value, iterator, result) };
}

/** The first piece, then the others. Closes the result even if no piece is read. */
function piecesOf(first: Uint8Array, iterator: AsyncIterator<Uint8Array>, result: WsgiResult): StreamBody {
  let ahead: Uint8Array | undefined = first;
  const steps: AsyncIterator<Uint8Array> = {
    async next() {
      const piece = ahead;
      ahead = undefined;
      if (piece !== undefined) return { done: false, value: piece };
      const step = await iterator.next();
      if (step.done === true) await result.close();
      return step;
    },
    async return() {
      await result.close();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => steps };
}

const ERRORS = {
  write(text: string): void {
    process.stderr.write(text);
  },
  flush(): void {},
};

function environOf(incoming: NodeIncoming, request: IncomingMessage, body: NodeBody): WsgiEnviron {
  const { localAddress = "localhost", localPort = 80, remoteAddress = "" } = request.socket;
  const { path, query } = cut(incoming.target);
  const environ: Record<string, unknown> = {
    REQUEST_METHOD: incoming.method,
    SCRIPT_NAME: "",
    PATH_INFO: unquoted(path),
    QUERY_STRING: query,
    REQUEST_URI: incoming.target,
    SERVER_NAME: localAddress,
    SERVER_PORT: String(localPort),
    SERVER_PROTOCOL: `HTTP/${request.httpVersion}`,
    REMOTE_ADDR: remoteAddress,
    "wsgi.version": [1, 0],
    "wsgi.url_scheme": incoming.scheme,
    "wsgi.input": inputOf(body),
    "wsgi.errors": ERRORS,
    "wsgi.multithread": true,
    "wsgi.multiprocess": false,
    "wsgi.run_once": false,
    // Node has already decoded the chunks.
    "wsgi.input_terminated": true,
  };
  for (const [name, value] of incoming.headers()) {
    // `a_b` and `a-b` become the same variable. A proxy may check only one of them, so the other must not
    // replace it.
    if (name.includes("_")) continue;
    const key = name.toUpperCase().replaceAll("-", "_");
    const variable = key === "CONTENT_TYPE" || key === "CONTENT_LENGTH" ? key : `HTTP_${key}`;
    const before = environ[variable];
    environ[variable] = before === undefined ? value : `${before}${name === "cookie" ? "; " : ","}${value}`;
  }
  return environ as WsgiEnviron;
}

function cut(target: string): { path: string; query: string } {
  const authority = target.startsWith("/") ? null : /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(target);
  const from = authority === null ? 0 : authority[0].length;
  const mark = target.indexOf("?", from);
  if (mark === -1) return { path: target.slice(from), query: "" };
  return { path: target.slice(from, mark), query: target.slice(mark + 1) };
}

/** One character for each byte. Keeps a malformed escape. */
function unquoted(path: string): string {
  return path.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Reads at the application's pace. Requests nothing from the client before the first `read`. */
function inputOf(body: NodeBody): WsgiInput {
  let rest: Uint8Array = new Uint8Array();
  const more = async (): Promise<boolean> => {
    const piece = await body.next();
    if (piece === undefined) return false;
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    return true;
  };
  return {
    async read(size = Number.POSITIVE_INFINITY) {
      while (rest.length < size && (await more())) {
        // Reads until the rest is large enough, or the body ends.
      }
      const taken = rest.subarray(0, Math.min(size, rest.length));
      rest = rest.subarray(taken.length);
      return taken;
    },
    async *[Symbol.asyncIterator]() {
      while (rest.length > 0 || (await more())) {
        const piece = rest;
        rest = new Uint8Array();
        yield piece;
      }
    },
  };
}
