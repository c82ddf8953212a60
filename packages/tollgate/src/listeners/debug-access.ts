import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";

export interface DebugAccessOptions {
  /** `DEBUG_HOST` */
  readonly host: string;
  /** `DEBUG_ALLOWED_HOSTS`: names, `*.example.com` for all names below one, `*` for any. */
  readonly allowedHosts: readonly string[];
  /** The setting that adds names. Default `DEBUG_ALLOWED_HOSTS`. */
  readonly setting?: string;
}

/** Returns why a request is refused; undefined if it may pass. */
export type AccessCheck = (request: IncomingMessage) => string | undefined;

/**
 * Protects the debug port from web pages. With DNS rebinding, a page resolves its own domain to this machine and reads
 * the port's responses as same-origin: those requests have that domain in `Host`. A page can also send cross-origin
 * requests, which have the page in `Origin`. IP addresses and `localhost` cannot be rebound.
 */
export function debugAccess({
  host,
  allowedHosts,
  setting = "DEBUG_ALLOWED_HOSTS",
}: DebugAccessOptions): AccessCheck {
  const names = ["localhost", "*.localhost", host, ...allowedHosts].map((name) => name.toLowerCase());
  const isAllowed = (name: string): boolean =>
    isIP(name) !== 0 ||
    names.some((allowed) =>
      allowed.startsWith("*.") ? name.endsWith(allowed.slice(1)) : allowed === "*" || allowed === name,
    );
  return ({ headers }) => {
    // HTTP/1.0 clients may omit it; browsers never do.
    const target = headers.host;
    if (target !== undefined && !isAllowed(nameOf(target)))
      return `the Host header ${quote(target)} does not name this port: use an IP address or localhost, or add the name to ${setting}`;
    const { origin } = headers;
    if (origin !== undefined && !isSameHost(origin, target))
      return `requests from the origin ${quote(origin)} are refused: only pages of this port may send requests to it`;
    return undefined;
  };
}

/** The host without its port, in lower case and without brackets. */
function nameOf(host: string): string {
  const name = /^\[([^\]]*)\](?::\d*)?$/.exec(host)?.[1] ?? host.replace(/:\d*$/, "");
  return name.toLowerCase().replace(/\.$/, "");
}

/** Ignores the scheme: a proxy in front of this port may terminate TLS. */
function isSameHost(origin: string, host: string | undefined): boolean {
  return origin.toLowerCase().replace(/^https?:\/\//, "") === host?.toLowerCase();
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
