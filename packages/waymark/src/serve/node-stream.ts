import type { ServerResponse } from "node:http";
import type { StreamBody } from "../http/answer.ts";

/**
 * Sends a body piece by piece: the next piece is asked for when the last has gone out. The source is told when the
 * client leaves; what it throws cuts the answer off, so that no client takes half of it for the whole.
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
    if (!response.writableEnded) void Promise.resolve(iterator.return?.()).catch(() => undefined);
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
    if (!closed) response.end();
  } catch (error) {
    if (!closed) report(error);
    response.destroy();
  }
}
