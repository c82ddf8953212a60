import type { IncomingMessage, ServerResponse } from "node:http";
import type { Application } from "../application.ts";
import type { Answer, StreamBody } from "../http/answer.ts";
import { HttpError, problemAnswer } from "../http/error.ts";
import { isSendable } from "../http/headers.ts";
import { lingers, sendThenDrain } from "./linger.ts";
import { NodeIncoming } from "./node-incoming.ts";
import { sendStream } from "./node-stream.ts";

export type NodeListener = (request: IncomingMessage, response: ServerResponse) => void;

export interface NodeAdapterOptions {
  /** How long a client may take nothing of its answer before it is cut off, in milliseconds. Default 60,000. */
  sendTimeout?: number;
  /** The listener is for `checkContinue`: "100 Continue" is sent when the body is first asked for. */
  expectsContinue?: boolean;
}

/** Serves an application through any `node:http` server. */
export function nodeListener(application: Application, options: NodeAdapterOptions = {}): NodeListener {
  const { sendTimeout = 60_000, expectsContinue = false } = options;
  return (request, response) => {
    const answer = application.handle(new NodeIncoming(request, response, expectsContinue));
    if (answer instanceof Promise)
      void answer.then((settled) => send(request, response, settled, sendTimeout));
    else send(request, response, answer, sendTimeout);
  };
}

function send(request: IncomingMessage, response: ServerResponse, answer: Answer, sendTimeout: number): void {
  if (response.destroyed) {
    if (isStream(answer.body)) void answer.body[Symbol.asyncIterator]().return?.();
    return;
  }
  const { headers } = answer;
  const lingering = lingers(request);
  if (lingering) headers.push("connection", "close");
  try {
    response.writeHead(answer.status, headers);
  } catch (error) {
    // A header that HTTP cannot carry: the only fault that shows no earlier than here.
    console.error(unsendable(headers) ?? error);
    const instead = problemAnswer(new HttpError(500));
    response.writeHead(500, instead.headers);
    response.end(instead.body);
    return;
  }
  const { body } = answer;
  if (isStream(body)) {
    void sendStream(response, body, sendTimeout);
    return;
  }
  if (lingering) {
    sendThenDrain(request, response, body);
    return;
  }
  if (body === null) response.end();
  else response.end(body);
  if (response.writableLength > 0) cutIfStalled(response, sendTimeout);
}

/** A client that takes nothing keeps the answer in memory: the socket's own idle timer ends that. */
function cutIfStalled(response: ServerResponse, sendTimeout: number): void {
  const { socket } = response;
  if (socket === null || sendTimeout === 0) return;
  const cut = () => response.destroy();
  socket.setTimeout(sendTimeout, cut);
  response.once("close", () => {
    socket.setTimeout(0);
    socket.off("timeout", cut);
  });
}

function isStream(body: Answer["body"]): body is StreamBody {
  return body !== null && typeof body === "object" && !(body instanceof Uint8Array);
}

function unsendable(headers: readonly string[]): string | undefined {
  for (let at = 0; at < headers.length; at += 2) {
    if (!isSendable(headers[at]!, headers[at + 1]!))
      return `the header ${JSON.stringify(headers[at])} cannot be sent: ${JSON.stringify(headers[at + 1])}`;
  }
  return undefined;
}
