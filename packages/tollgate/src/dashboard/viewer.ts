/** The viewer of a request, and the rules and keys to show. */
import type { KeysOfRules } from "./messages.ts";
import { MAX_ROWS, MAX_SEARCH, type RuleQuery } from "./rule-page.ts";

/** Loopback: 127.0.0.0/8, ::1, and the former as IPv6. */
const LOOPBACK = /^(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$|^::1$/;
/** A proxy on this machine adds one of these for a viewer elsewhere. */
const FORWARDED = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

export interface ViewerRequest {
  readonly remoteAddress: string | undefined;
  readonly headers: { get(name: string): string | null };
}

/** A viewer's permission to see keys of requests, which may be personal data, or the reason of the refusal. */
export type KeyAccess = Pick<KeysOfRules, "shown" | "reason">;

/**
 * Keys are shown to viewers on this machine, and to those with a credential of the admin API.
 * @param accepts whether an `Authorization` header has such a credential
 */
export function keysFor(
  { remoteAddress, headers }: ViewerRequest,
  accepts: (authorization: string | null) => boolean,
): KeyAccess {
  const authorization = headers.get("authorization");
  if (accepts(authorization)) return { shown: true };
  if (authorization !== null) return { shown: false, reason: "The admin API does not know this token." };
  if (!LOOPBACK.test(remoteAddress ?? ""))
    return { shown: false, reason: "Keys are shown on the same machine, or with a token of the admin API." };
  if (FORWARDED.some((name) => headers.get(name) !== null))
    return { shown: false, reason: "Through a proxy, keys are shown with a token of the admin API only." };
  return { shown: true };
}

/** Whether another site's page sent the request. Such a page cannot read the response, but could take a place of a viewer. */
export function isForeign({ headers }: Pick<ViewerRequest, "headers">): boolean {
  const site = headers.get("sec-fetch-site");
  return site !== null && site !== "same-origin" && site !== "none";
}

/** Reads the query of a view. Replaces values that are not valid by the nearest that are. */
export function ruleQuery(query: Readonly<Record<string, unknown>>): RuleQuery {
  const { search, order, rule } = query;
  return {
    search: typeof search === "string" ? search.slice(0, MAX_SEARCH) : "",
    order: order === "hits" || order === "name" ? order : "refused",
    offset: integer(query.offset, 0, 0, Number.MAX_SAFE_INTEGER),
    limit: integer(query.limit, 25, 1, MAX_ROWS),
    rule: typeof rule === "string" ? rule : "",
  };
}

function integer(value: unknown, standard: number, least: number, most: number): number {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : standard;
  return Math.min(Math.max(number, least), most);
}
