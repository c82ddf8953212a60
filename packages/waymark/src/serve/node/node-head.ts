import type { IncomingMessage, ServerResponse } from "node:http";
import { HttpError, problemAnswer } from "../../http/http-error.ts";

/** Rejects a request whose version is not HTTP/1. True if it has sent the answer. */
export function refuseVersion(request: IncomingMessage, response: ServerResponse): boolean {
  const { httpVersionMajor } = request;
  if (httpVersionMajor === 1) return false;
  const error =
    httpVersionMajor === 0
      ? new HttpError(400, "the request line has no HTTP version: it must end in HTTP/1.1")
      : new HttpError(505, `this server speaks HTTP/1.1, not HTTP/${request.httpVersion}`);
  const { status, headers, body } = problemAnswer(error);
  response.writeHead(status, [...headers, "connection", "close"]);
  response.end(body);
  return true;
}
