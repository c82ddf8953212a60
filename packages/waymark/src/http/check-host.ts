import { HttpError } from "./http-error.ts";
import type { Incoming } from "./incoming.ts";

/**
 * The host and port of RFC 3986. Excludes user information, which requests must not contain, and commas, which join
 * several Host headers.
 */
const HOST = /^(?:\[[0-9a-f:.]+\]|(?:[\w.~!$&'()*+;=-]|%[0-9a-f]{2})+)(?::\d*)?$/i;

export function isHost(text: string): boolean {
  return HOST.test(text);
}

/** The last valid host: most requests name the same one. */
let known = "localhost";

/**
 * RFC 9112 section 3.2: throws 400 if an HTTP/1.1 request has no Host header, several, or an invalid one. An invalid
 * value would change the path of the request's URL.
 */
export function checkHost(incoming: Incoming): void {
  const host = incoming.header("host");
  if (host === known) return;
  if (host === undefined) {
    if (incoming.requiresHost) throw new HttpError(400, "the request has no Host header");
    return;
  }
  if (!isHost(host))
    throw new HttpError(400, `the Host header "${host.slice(0, 100)}" does not name one host`);
  known = host;
}
