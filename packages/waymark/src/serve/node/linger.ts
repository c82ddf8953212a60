import type { IncomingMessage, ServerResponse } from "node:http";
import { cutIfStalled } from "./send-timeout.ts";

/** Bounds for reading on in a body that nothing uses, so that its sender sees the answer. */
const LINGER_MS = 2_000;
const LINGER_BYTES = 4 * 1024 * 1024;

/**
 * Sends the whole answer, then reads on within bounds, and closes. For a request whose body is still coming when its
 * answer is ready: closing at once would reset the connection, and the sender would not see the answer.
 */
export function sendThenDrain(
  request: IncomingMessage,
  response: ServerResponse,
  body: string | Uint8Array | null,
  sendTimeout: number,
): void {
  if (body === null) response.flushHeaders();
  else response.write(body);
  let taken = 0;
  const finish = () => {
    clearTimeout(timer);
    request.off("data", count);
    request.off("end", finish);
    request.off("close", finish);
    response.end();
    cutIfStalled(response, sendTimeout);
  };
  const timer = setTimeout(finish, LINGER_MS);
  const count = (piece: Uint8Array) => {
    taken += piece.length;
    if (taken > LINGER_BYTES) finish();
  };
  request.on("data", count);
  request.once("end", finish);
  request.once("close", finish);
  request.resume();
}
