import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";

export interface DebugAccessOptions {
  /** `DEBUG_HOST` */
  readonly host: string;
  /** `DEBUG_ALLOWED_HOSTS`: names, `*.example.com` for all names below one, `*` for any. */
  readonly allowedHosts: readonly string[];
}

/** Returns why a request is refused; undefined if it may pass. */
export type AccessCheck = (request: IncomingMessage) => string | undefined;

/**
 * Keeps web pages away from the debug port. A page can point a name of its own at this machine and then read the
 * port's answers as its own (DNS rebinding): such requests have that name in `Host`. A page can also send requests
 * across origins: such requests have the page in `Origin`. IP addresses and `localhost` cannot be rebound.
 */
export function debugAccess({ host, allowedHosts }: DebugAccessOptions): AccessCheck {
  const names = ["localhost", "*.localhost", host, ...allowedHosts].map((name) => name.toLowerCase());
  const isAllowed = (name: string): boolean =>
    isIP(name) !== 0 ||
    names.some((allowed) =>
      allowed.startsWith("*.") ? name.endsWith(allowed.slice(1)) : allowed === "*" || allowed === name,
    );
  return ({ headers }) => {
    // Clients of HTTP/1.0 may leave it out; no browser does.
    const target = headers.host;
    if (target !== undefined && !isAllowed(nameOf(target)))
      return `the Host header ${quote(target)} does not name this port: use an IP address or localhost, or add the name to DEBUG_ALLOWED_HOSTS`;
    const { origin } = headers;
    if (origin !== undefined && !isSameHost(origin, target))
      return `the page ${quote(origin)} may not use this port: requests of other origins are refused`;
    return undefined;
  };
}

/** The host without its port, in lower case and without brackets. */
function nameOf(host: string): string {
  const name = /^\[([^\]]*)\](?::\d*)?$/.exec(host)?.[1] ?? host.replace(/:\d*$/, "");
  return name.toLowerCase().replace(/\.$/, "");
}

/** The scheme may differ: a proxy before this port may speak TLS. */
function isSameHost(origin: string, host: string | undefined): boolean {
  return origin.toLowerCase().replace(/^https?:\/\//, "") === host?.toLowerCase();
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
