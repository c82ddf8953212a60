import type { IncomingMessage, ServerResponse } from "node:http";
import { cutIfStalled } from "./send-timeout.ts";

/** Bounds for reading the rest of an unused body, so that the client receives the answer. */
const LINGER_MS = 2_000;
const LINGER_BYTES = 4 * 1024 * 1024;

/**
 * Sends the whole answer, reads the rest of the request's body within bounds, and closes. If the connection closed
 * while the body is still arriving, TCP would reset it, and the client would lose the answer.
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
