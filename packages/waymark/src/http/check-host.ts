import { HttpError } from "./http-error.ts";
import type { Incoming } from "./incoming.ts";

/**
 * uri-host and port of RFC 3986. Without user information, which has no place in a request, and without a comma,
 * which joins the values of several Host headers.
 */
const HOST = /^(?:\[[0-9a-f:.]+\]|(?:[\w.~!$&'()*+;=-]|%[0-9a-f]{2})+)(?::\d*)?$/i;

export function isHost(text: string): boolean {
  return HOST.test(text);
}

/** The last valid one: most requests ask for the same host. */
let known = "localhost";

/**
 * RFC 9112 section 3.2: 400 for a request of HTTP/1.1 without a Host header, with several, or with one that is no
 * host. Such a value would change the path of the URL that is made of it.
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
