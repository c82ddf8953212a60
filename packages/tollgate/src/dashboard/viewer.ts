/** Who looks, and at what. */
import type { Frame } from "./messages.ts";
import { MAX_ROWS, MAX_SEARCH, type RuleQuery } from "./rule-page.ts";

/** Loopback: 127.0.0.0/8, ::1, and the former as IPv6. */
const LOOPBACK = /^(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$|^::1$/;
/** A proxy on this machine adds one of these for a viewer elsewhere. */
const FORWARDED = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

export interface ViewerRequest {
  readonly remoteAddress: string | undefined;
  readonly headers: { get(name: string): string | null };
}

/** Whether a viewer may see keys of requests, which may be personal data: only from this machine. */
export function keysFor({ remoteAddress, headers }: ViewerRequest): Frame["keys"] {
  if (!LOOPBACK.test(remoteAddress ?? ""))
    return {
      shown: false,
      reason:
        "Keys are shown to viewers on the same machine only, for example through `kubectl port-forward`.",
    };
  if (FORWARDED.some((name) => headers.get(name) !== null))
    return { shown: false, reason: "Keys are not shown through a proxy." };
  return { shown: true };
}

/** Whether another site's page sent the request. Such a page cannot read the response, but could take a place of a viewer. */
export function isForeign({ headers }: Pick<ViewerRequest, "headers">): boolean {
  const site = headers.get("sec-fetch-site");
  return site !== null && site !== "same-origin" && site !== "none";
}

/** Reads the query of a view. Replaces values that are not valid by the nearest that are. */
export function ruleQuery(query: Readonly<Record<string, unknown>>): RuleQuery {
  const { search, order } = query;
  return {
    search: typeof search === "string" ? search.slice(0, MAX_SEARCH) : "",
    order: order === "hits" || order === "name" ? order : "refused",
    offset: integer(query.offset, 0, 0, Number.MAX_SAFE_INTEGER),
    limit: integer(query.limit, 25, 1, MAX_ROWS),
  };
}

function integer(value: unknown, standard: number, least: number, most: number): number {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : standard;
  return Math.min(Math.max(number, least), most);
}
