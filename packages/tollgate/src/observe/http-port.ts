import type { IncomingMessage } from "node:http";
import type { AddressInfo, Server } from "node:net";
import { showAddress } from "../text/address.ts";
import { listenerErrorLogger } from "./listener-errors.ts";
import type { Logger } from "./log.ts";

export interface HttpPortOptions {
  /** For messages: `HTTP`, `debug`, `metrics`. */
  readonly name: string;
  /** Undefined: all addresses. */
  readonly host: string | undefined;
  /** 0 picks a free port. */
  readonly port: number;
  readonly maxConnections: number;
  readonly log: Logger;
}

/**
 * Binds an HTTP or HTTPS server to its port. Bounds its connections and handles its errors for its whole life.
 * @throws if the port cannot be bound; the message names the listener, the address and the reason
 */
export async function bindHttpPort(server: Server, options: HttpPortOptions): Promise<AddressInfo> {
  const { name, host, port, maxConnections, log } = options;
  server.maxConnections = maxConnections;
  try {
    await listen(server, host, port);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const address = showAddress(host ?? "", port);
    throw new Error(`cannot listen for ${name} on ${address}: ${problem}`, { cause: error });
  }
  server.on("error", listenerErrorLogger(name, log));
  return server.address() as AddressInfo;
}

function listen(server: Server, host: string | undefined, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, backlog: 1024 }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/**
 * Finds a fault of a request's head that Node's parser accepts. Proxies in front of this server may read such a head
 * differently (RFC 9112, sections 2.3 and 3.2), so the server must refuse it.
 */
export function faultOfHead(request: IncomingMessage): string | undefined {
  const { httpVersion, httpVersionMajor, rawHeaders } = request;
  if (httpVersionMajor !== 1)
    return httpVersion === "0.9"
      ? "the request line has no HTTP version: it must end in HTTP/1.1"
      : `HTTP/${httpVersion.slice(0, 10)} is not served on this port: use HTTP/1.1`;
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    // Names have even indexes.
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts > 1 ? "the request has more than one Host header" : undefined;
}
