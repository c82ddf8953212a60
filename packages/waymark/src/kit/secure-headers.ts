import type { Exchange } from "../controller/exchange.ts";
import type { Part } from "../controller/part.ts";

/** Options of {@link secureHeaders}. */
export interface SecureHeadersOptions {
  /** Other values by header, or false to leave a header out: `{ "x-frame-options": false }`. */
  readonly headers?: Readonly<Record<string, string | false>>;
  /** `Strict-Transport-Security` over HTTPS. Default: a year, without subdomains. False: not sent. */
  readonly hsts?:
    | { readonly maxAge?: number; readonly subdomains?: boolean; readonly preload?: boolean }
    | false;
}

/** An answer that is not a page needs nothing from anywhere. */
const FOR_DATA = "default-src 'none'; frame-ancestors 'none'";
/** Breaks no page that works without frames, plug-ins and a foreign base address. */
const FOR_PAGES = "base-uri 'none'; object-src 'none'; frame-ancestors 'none'";
const CSP = "content-security-policy";

const DEFAULTS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

/**
 * Adds headers that switch off what browsers do by habit. Keeps every header that the answer has.
 * @example
 * ```ts
 * import { Application } from "@tollway/waymark";
 * import { secureHeaders } from "@tollway/waymark/kit";
 *
 * export const application = new Application({ use: [secureHeaders({ headers: { "x-frame-options": false } })] });
 * ```
 */
export function secureHeaders(options: SecureHeadersOptions = {}): Part {
  const own = Object.entries(options.headers ?? {}).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  const policy = own.find(([name]) => name === CSP)?.[1];
  const fixed = [...new Map<string, string | false>([...Object.entries(DEFAULTS), ...own])].filter(
    (pair): pair is [string, string] => pair[1] !== false && pair[0] !== CSP,
  );
  const hsts = options.hsts === false ? undefined : transportSecurity(options.hsts ?? {});
  return {
    onAnswer(exchange) {
      const { headers } = exchange;
      for (const [name, value] of fixed) if (!headers.has(name)) headers.set(name, value);
      if (policy !== false && !headers.has(CSP))
        headers.set(CSP, policy ?? (isPage(exchange) ? FOR_PAGES : FOR_DATA));
      if (hsts !== undefined && exchange.scheme === "https" && !headers.has("strict-transport-security"))
        headers.set("strict-transport-security", hsts);
    },
  };
}

function isPage({ headers }: Exchange): boolean {
  return /^\s*(text\/html|application\/xhtml\+xml|image\/svg\+xml)\b/i.test(
    headers.get("content-type") ?? "",
  );
}

function transportSecurity(given: Exclude<SecureHeadersOptions["hsts"], false | undefined>): string {
  const { maxAge = 365 * 24 * 60 * 60, subdomains = false, preload = false } = given;
  if (!Number.isInteger(maxAge) || maxAge < 0)
    throw new TypeError(`hsts.maxAge must be a number of seconds, not ${maxAge}`);
  return `max-age=${maxAge}${subdomains ? "; includeSubDomains" : ""}${preload ? "; preload" : ""}`;
}
