import type { IncomingMessage } from "node:http";

/**
 * Why a request's head must be refused although Node's parser takes it: proxies before this server may read it in
 * another way (RFC 9112, sections 2.3 and 3.2).
 */
export function faultOfHead({
  httpVersion,
  httpVersionMajor,
  rawHeaders,
}: IncomingMessage): string | undefined {
  if (httpVersionMajor !== 1)
    return httpVersion === "0.9"
      ? "the request line has no HTTP version: it must end in HTTP/1.1"
      : `HTTP/${httpVersion.slice(0, 10)} is not served on this port: use HTTP/1.1`;
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts > 1 ? "the request has more than one Host header" : undefined;
}
