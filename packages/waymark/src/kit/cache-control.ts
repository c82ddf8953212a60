import type { Part } from "../controller/part.ts";

/** The directives of `cache-control` (RFC 9111 section 5.2.2, RFC 5861, RFC 8246). Times are in seconds. */
export interface CacheDirectives {
  /** Lets shared caches keep the answer even if the request had credentials. */
  readonly public?: boolean;
  /** Only the client's own cache may keep the answer. */
  readonly private?: boolean;
  /** No cache may keep the answer. */
  readonly noStore?: boolean;
  /** Caches ask before each use whether the answer is still current. */
  readonly noCache?: boolean;
  /** No intermediary may change the answer. `compression()` keeps to it, too. */
  readonly noTransform?: boolean;
  /** A cache must not use the answer after its time, even if it cannot ask. */
  readonly mustRevalidate?: boolean;
  /** The answer never changes at this address. */
  readonly immutable?: boolean;
  /** Seconds for which caches may use the answer without asking. */
  readonly maxAge?: number;
  /** Replaces `maxAge` for shared caches. */
  readonly sharedMaxAge?: number;
  /** Seconds for which a cache may use an outdated answer while it asks for a new one. */
  readonly staleWhileRevalidate?: number;
  /** Seconds for which a cache may use an outdated answer if the server fails. */
  readonly staleIfError?: number;
}

const NAMES: Readonly<Record<keyof CacheDirectives, string>> = {
  public: "public",
  private: "private",
  noStore: "no-store",
  noCache: "no-cache",
  noTransform: "no-transform",
  mustRevalidate: "must-revalidate",
  immutable: "immutable",
  maxAge: "max-age",
  sharedMaxAge: "s-maxage",
  staleWhileRevalidate: "stale-while-revalidate",
  staleIfError: "stale-if-error",
};

/**
 * The value of the header: `cacheControl({ public: true, maxAge: 60 })` is `public, max-age=60`.
 * @example
 * ```ts
 * import { cacheControl } from "@tollway/waymark/kit";
 *
 * console.log(cacheControl({ public: true, maxAge: 60, staleIfError: 3600 }));
 * ```
 */
export function cacheControl(directives: CacheDirectives): string {
  const { noStore, maxAge, sharedMaxAge, immutable } = directives;
  if (directives.public === true && directives.private === true)
    throw new TypeError("cache-control: public and private exclude each other");
  if (noStore === true && (maxAge !== undefined || sharedMaxAge !== undefined || immutable === true))
    throw new TypeError("cache-control: noStore and a time exclude each other");
  const parts: string[] = [];
  for (const [key, value] of Object.entries(directives) as [keyof CacheDirectives, unknown][]) {
    const name = NAMES[key];
    if (name === undefined) throw new TypeError(`cache-control has no directive ${key}`);
    if (value === undefined || value === false) continue;
    if (value === true) parts.push(name);
    else if (Number.isInteger(value) && (value as number) >= 0) parts.push(`${name}=${value}`);
    else throw new TypeError(`cache-control: ${key} must be a number of seconds, not ${String(value)}`);
  }
  return parts.join(", ");
}

/**
 * Sets `cache-control` on answers that have none. Errors get `no-store`, and so do answers that set a cookie.
 * @example
 * ```ts
 * import { Application } from "@tollway/waymark";
 * import { defaultCacheControl } from "@tollway/waymark/kit";
 *
 * export const application = new Application({ use: [defaultCacheControl({ noCache: true })] });
 * ```
 */
export function defaultCacheControl(directives: CacheDirectives): Part {
  const value = cacheControl(directives);
  return {
    onAnswer({ headers, status }) {
      if (headers.has("cache-control")) return;
      const isKept = status < 400 && !headers.has("set-cookie");
      headers.set("cache-control", isKept ? value : "no-store");
    },
  };
}
