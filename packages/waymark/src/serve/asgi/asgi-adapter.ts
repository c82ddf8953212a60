import { Buffer } from "node:buffer";
import { type Answer, endStream, isStream, type StreamBody } from "../../http/answer.ts";
import { passableAnswer } from "../gateway/head.ts";
import type { Lifecycle, RequestHandler } from "../handler.ts";
import { AsgiIncoming } from "./asgi-incoming.ts";
import type { AsgiApplication, AsgiHttpScope, AsgiReceive, AsgiSend } from "./asgi-types.ts";
import { serveLifespan } from "./lifespan.ts";

/** The ASGI 3 callable of an application. Rejects if it must cut off an answer that has begun. */
export function asgiAdapter(application: RequestHandler & Lifecycle): AsgiApplication {
  return async (scope, receive, send) => {
    switch (scope.type) {
      case "http":
        return serveHttp(application, scope, receive, send);
      case "lifespan":
        return serveLifespan(application, receive, send);
      case "websocket":
        await receive();
        return send({ type: "websocket.close", code: 1000, reason: "" });
      default:
        throw new TypeError(`the ASGI scope type "${(scope as { type: string }).type}" is not served`);
    }
  };
}

async function serveHttp(
  application: RequestHandler,
  scope: AsgiHttpScope,
  receive: AsgiReceive,
  send: AsgiSend,
): Promise<void> {
  const incoming = new AsgiIncoming(scope, receive);
  const report = (error: unknown) => application.report(error, incoming);
  let source: AsyncIterator<Uint8Array | string> | undefined;
  incoming.watch(() => void Promise.resolve(source?.return?.()).catch(() => undefined));
  try {
    const answer = passableAnswer(await application.handle(incoming), report);
    if (incoming.gone) {
      if (isStream(answer.body)) await endStream(answer.body);
      return;
    }
    const { body } = answer;
    if (isStream(body)) source = body[Symbol.asyncIterator]();
    try {
      await send({ type: "http.response.start", status: answer.status, headers: pairs(answer.headers) });
      if (source === undefined) await send(last(body as Exclude<Answer["body"], StreamBody>));
      else await sendStream(source, incoming, send, report);
    } catch (error) {
      // `send` fails when the client has gone away. Any other error cuts the answer off.
      if (error instanceof SourceError) throw error.cause;
      incoming.leave();
    }
  } finally {
    incoming.release();
  }
}

/** Requests each piece after the server has accepted the previous one. */
async function sendStream(
  source: AsyncIterator<Uint8Array | string>,
  incoming: AsgiIncoming,
  send: AsgiSend,
  report: (error: unknown) => void,
): Promise<void> {
  for (;;) {
    let step: IteratorResult<Uint8Array | string>;
    try {
      step = await source.next();
    } catch (error) {
      if (incoming.gone) return;
      report(error);
      throw new SourceError(error);
    }
    if (incoming.gone) return;
    if (step.done === true) return send(last(null));
    await send({ type: "http.response.body", body: bytesOf(step.value), more_body: true });
  }
}

/** Distinguishes an error of the application's stream from an error of `send`. */
class SourceError extends Error {
  override readonly name = "SourceError";
  constructor(cause: unknown) {
    super("the answer's source failed", { cause });
  }
}

function last(body: string | Uint8Array | null) {
  return {
    type: "http.response.body",
    body: body === null ? new Uint8Array() : bytesOf(body),
    more_body: false,
  } as const;
}

function bytesOf(piece: string | Uint8Array): Uint8Array {
  return typeof piece === "string" ? Buffer.from(piece) : piece;
}

function pairs(headers: readonly string[]): [Uint8Array, Uint8Array][] {
  const pairs: [Uint8Array, Uint8Array][] = [];
  for (let at = 0; at < headers.length; at += 2)
    pairs.push([Buffer.from(headers[at]!, "latin1"), Buffer.from(headers[at + 1]!, "latin1")]);
  return pairs;
}
