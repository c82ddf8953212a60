import { type Answer, endStream, isStream, type StreamBody } from "../../http/answer.ts";
import type { LambdaEvent } from "./event.ts";
import type { AnswerHead } from "./event-answer.ts";

/** The part of the runtime's stream that is used. A `Writable` has it, too. */
export interface ResponseStream {
  write(piece: string | Uint8Array): boolean;
  end(): unknown;
  on(name: "drain" | "finish" | "close" | "error", listener: () => void): unknown;
  removeListener(name: "drain" | "finish" | "close" | "error", listener: () => void): unknown;
}

/** The globals of Lambda's Node runtime for functions that stream. */
export interface StreamingRuntime {
  streamifyResponse(handler: (event: LambdaEvent, stream: ResponseStream) => Promise<void>): unknown;
  HttpResponseStream: { from(stream: ResponseStream, head: AnswerHead): ResponseStream };
}

/**
 * Sends the body. Resolves once the runtime has it, or once the runtime no longer takes it. Rejects with the error of
 * a body that fails: the runtime then ends the answer as a failed one. A stream that is destroyed instead would leave
 * the runtime waiting.
 */
export async function sendBody(
  out: ResponseStream,
  body: Answer["body"],
  client: { leave(): void; readonly gone: boolean },
  report: (error: unknown) => void,
): Promise<void> {
  const closed = Promise.withResolvers<void>();
  const onClose = () => {
    client.leave();
    closed.resolve();
  };
  out.on("close", onClose);
  out.on("error", onClose);
  // The runtime sends the head with the first write, so that even an answer without a body needs one.
  out.write("");
  try {
    const sent = isStream(body) ? sendPieces(out, body, client, report) : sendWhole(out, body);
    await Promise.race([sent, closed.promise]);
  } finally {
    out.removeListener("close", onClose);
    if (isStream(body) && client.gone) void endStream(body);
  }
}

async function sendWhole(out: ResponseStream, body: string | Uint8Array | null): Promise<void> {
  if (body !== null && body.length > 0) out.write(body);
  await finish(out);
}

async function sendPieces(
  out: ResponseStream,
  body: StreamBody,
  client: { readonly gone: boolean },
  report: (error: unknown) => void,
): Promise<void> {
  try {
    for await (const piece of body) {
      if (client.gone) return;
      if (piece.length === 0) continue;
      if (!out.write(piece)) await next(out, "drain");
      if (client.gone) return;
    }
  } catch (error) {
    if (client.gone) return;
    report(error);
    throw error;
  }
  await finish(out);
}

async function finish(out: ResponseStream): Promise<void> {
  const finished = next(out, "finish");
  out.end();
  await finished;
}

/** Resolves with the event, or when the stream closes. */
function next(out: ResponseStream, name: "drain" | "finish"): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      out.removeListener(name, done);
      out.removeListener("close", done);
      resolve();
    };
    out.on(name, done);
    out.on("close", done);
  });
}
