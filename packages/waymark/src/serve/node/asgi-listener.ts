import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { type Answer, isStream } from "../../http/answer.ts";
import { HttpError, problemAnswer } from "../../http/http-error.ts";
import type { AsgiApplication, AsgiHttpScope, AsgiReceive } from "../asgi/asgi-types.ts";
import type { RequestHandler } from "../handler.ts";
import { AnswerAssembly } from "./asgi-assembly.ts";
import { type NodeAdapterOptions, type NodeListener, refuseVersion, sendAnswer } from "./node-adapter.ts";
import { NodeBody } from "./node-body.ts";
import { NodeIncoming } from "./node-incoming.ts";

type AsgiServed = Pick<RequestHandler, "report"> & { readonly asgi: AsgiApplication };

/** Serves through the ASGI callable. `waymark --interface=asgi` puts it behind `node:http`. */
export function asgiListener(application: AsgiServed, options: NodeAdapterOptions = {}): NodeListener {
  const { sendTimeout = 60_000, expectsContinue = false } = options;
  return (request, response) => {
    if (refuseVersion(request, response)) return;
    const incoming = new NodeIncoming(request, response, expectsContinue);
    const report = (error: unknown) => application.report(error, incoming);
    const body = new NodeBody(incoming, request);
    const assembly = new AnswerAssembly((answer: Answer) => {
      if (!isStream(answer.body)) body.release();
      sendAnswer(incoming, request, response, answer, sendTimeout, report);
    });
    const finished = assembly.done.promise;
    application.asgi(scopeOf(incoming, request), receiveOf(incoming, body, finished), assembly.send).then(
      () => assembly.end(new Error("the application returned without completing its answer")),
      (error: unknown) => assembly.end(error),
    );
    response.once("close", () => assembly.end(new Error("the client has gone away")));
    assembly.onMissing = () => problemAnswer(new HttpError(500));
  };
}

function scopeOf(incoming: NodeIncoming, request: IncomingMessage): AsgiHttpScope {
  const { target } = incoming;
  const { remoteAddress, remotePort, localAddress, localPort } = request.socket;
  const mark = target.indexOf("?");
  const raw = mark === -1 ? target : target.slice(0, mark);
  return {
    type: "http",
    asgi: { version: "3.0", spec_version: "2.4" },
    http_version: request.httpVersion,
    method: incoming.method.toUpperCase(),
    scheme: incoming.scheme,
    path: unquoted(raw),
    raw_path: Buffer.from(raw, "latin1"),
    query_string: Buffer.from(mark === -1 ? "" : target.slice(mark + 1), "latin1"),
    root_path: "",
    headers: incoming
      .headers()
      .map(([name, value]) => [Buffer.from(name, "latin1"), Buffer.from(value, "latin1")]),
    client: remoteAddress === undefined ? null : [remoteAddress, remotePort ?? 0],
    server: localAddress === undefined ? null : [localAddress, localPort ?? 0],
    extensions: {},
  };
}

/** Keeps a malformed escape. Replaces bytes that are not UTF-8 with U+FFFD. */
function unquoted(path: string): string {
  if (!path.includes("%")) return path;
  const bytes = path.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** The body at the reader's pace, then `http.disconnect` once the client leaves or the answer ends. */
function receiveOf(incoming: NodeIncoming, body: NodeBody, finished: Promise<void>): AsgiReceive {
  let ended = false;
  return async () => {
    if (ended || incoming.gone) {
      await Promise.race([finished, left(incoming.signal)]);
      return { type: "http.disconnect" };
    }
    if (!incoming.hasBody) {
      ended = true;
      return { type: "http.request", body: new Uint8Array(), more_body: false };
    }
    try {
      const piece = await body.next();
      if (piece !== undefined) return { type: "http.request", body: piece, more_body: true };
      ended = true;
      return { type: "http.request", body: new Uint8Array(), more_body: false };
    } catch {
      ended = true;
      return { type: "http.disconnect" };
    }
  };
}

function left(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
