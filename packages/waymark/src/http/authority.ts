import { isHost } from "./check-host.ts";
import { HttpError } from "./http-error.ts";

/** `host:port` of a request-target in absolute form. */
export function authorityOf(target: string): string {
  const found = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(target);
  if (found === null) throw new HttpError(400, "the request target is neither a path nor a URL");
  const authority = found[1]!;
  if (!isHost(authority))
    throw new HttpError(400, `"${authority.slice(0, 100)}" in the request target does not name a host`);
  return authority;
}
