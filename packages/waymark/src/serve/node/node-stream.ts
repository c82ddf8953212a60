import type { ServerResponse } from "node:http";
import { endStream, type StreamBody } from "../../http/answer.ts";
import { cutIfStalled } from "./send-timeout.ts";

/**
 * Sends a body piece by piece, each after the previous one was written. Releases the body when the client leaves. An
 * error of the body destroys the connection, so that a client cannot mistake an incomplete answer for a complete one.
 */
export async function sendStream(
  response: ServerResponse,
  body: StreamBody,
  sendTimeout: number,
  report: (error: unknown) => void,
): Promise<void> {
  const iterator = body[Symbol.asyncIterator]();
  let closed = false;
  let wake: (() => void) | undefined;
  response.on("close", () => {
    closed = true;
    wake?.();
    if (!response.writableEnded) void endStream(body);
  });
  const drained = () =>
    new Promise<void>((resolve) => {
      const timer = sendTimeout === 0 ? undefined : setTimeout(() => response.destroy(), sendTimeout);
      wake = () => {
        clearTimeout(timer);
        response.off("drain", wake!);
        wake = undefined;
        resolve();
      };
      response.once("drain", wake);
    });
  try {
    while (!closed) {
      const step = await iterator.next();
      if (closed) return;
      if (step.done === true) break;
      if (!response.write(step.value)) await drained();
    }
    if (closed) return;
    response.end();
    cutIfStalled(response, sendTimeout);
  } catch (error) {
    if (!closed) report(error);
    response.destroy();
  }
}
