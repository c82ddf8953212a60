import { isHost } from "./check-host.ts";
import { HttpError } from "./http-error.ts";
import type { Incoming } from "./incoming.ts";
import { cutTarget } from "./target.ts";

/**
 * The proxies whose forwarded headers count: `false` for none, `true` for all (only if clients cannot bypass the proxy),
 * or their number, counted from this server.
 */
export type TrustProxy = boolean | number;

/** The origin and target of a request, as the client sees them. */
export interface Origin {
  scheme: string;
  host: string;
  remoteAddress: string | undefined;
}

/** The value that the outermost trusted proxy added. Each proxy appends the address it sees. */
function forwarded(incoming: Incoming, name: string, trust: number): string | undefined {
  const values = incoming.header(name)?.split(",");
  if (values === undefined) return undefined;
  return values[Math.max(0, values.length - trust)]!.trim() || undefined;
}

/** Ignores the headers of proxies that are not trusted. */
export function originOf(incoming: Incoming, trust: TrustProxy): Origin {
  const origin: Origin = {
    scheme: incoming.scheme,
    // RFC 9112 section 3.2.2: an absolute-form target replaces the Host header.
    host: cutTarget(incoming.target).authority ?? incoming.header("host") ?? "localhost",
    remoteAddress: incoming.remoteAddress,
  };
  const hops = trust === true ? Number.POSITIVE_INFINITY : Number(trust);
  if (hops <= 0) return origin;
  const scheme = forwarded(incoming, "x-forwarded-proto", hops);
  if (scheme === "http" || scheme === "https") origin.scheme = scheme;
  origin.host = forwarded(incoming, "x-forwarded-host", hops) ?? origin.host;
  origin.remoteAddress = forwarded(incoming, "x-forwarded-for", hops) ?? origin.remoteAddress;
  return origin;
}

/** The URL that the client requested. The request is routed by its path. */
export function urlOf(incoming: Incoming, trust: TrustProxy): string {
  const { scheme, host } = originOf(incoming, trust);
  const { path, query } = cutTarget(incoming.target);
  const url = isHost(host) ? URL.parse(`${scheme}://${host}${path}${query === "" ? "" : `?${query}`}`) : null;
  if (url === null) throw new HttpError(400, `"${host.slice(0, 100)}" does not name a host`);
  return url.href;
}
