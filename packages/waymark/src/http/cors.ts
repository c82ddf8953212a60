import { type Answer, emptyAnswer } from "./answer.ts";
import type { Incoming } from "./incoming.ts";
import { addVary } from "./vary.ts";

/** The scripts of other origins that may call an application. */
export interface CorsOptions {
  /** The exact origins: `https://app.example.com`. `*` allows any origin and excludes `credentials`. */
  origins: readonly string[];
  /** Let browsers send cookies and authorization. Default false. */
  credentials?: boolean;
  /** Request headers that scripts may set. Default: the headers that the preflight names. */
  headers?: readonly string[];
  /** Response headers that scripts may read. */
  exposeHeaders?: readonly string[];
  /** Seconds for which a browser may cache a preflight. Default 600. */
  maxAge?: number;
}

export function checkCors(cors: CorsOptions): void {
  if (!Array.isArray(cors.origins)) throw new TypeError("cors.origins must be a list of origins");
  if (cors.origins.includes("*") && cors.credentials === true)
    throw new TypeError('cors: origin "*" and credentials exclude each other');
  for (const origin of cors.origins) {
    if (origin !== "*" && origin !== "null" && URL.parse(origin)?.origin !== origin)
      throw new TypeError(`cors: "${origin}" is not an origin such as "https://app.example.com"`);
  }
}

/** Adds the headers that allow the browser to pass the answer to the calling script. */
export function addCors(answer: Answer, incoming: Incoming, cors: CorsOptions): Answer {
  const { headers } = answer;
  const any = cors.origins.includes("*");
  const origin = incoming.header("origin");
  // A cache must not reuse an answer for another origin.
  if (!any) addVary(headers, "Origin");
  if (origin === undefined || !(any || cors.origins.includes(origin))) return answer;
  headers.push("access-control-allow-origin", any ? "*" : origin);
  if (cors.credentials === true) headers.push("access-control-allow-credentials", "true");
  if (cors.exposeHeaders?.length)
    headers.push("access-control-expose-headers", cors.exposeHeaders.join(", "));
  return answer;
}

/** True for a CORS preflight request. */
export function isPreflight(incoming: Incoming): boolean {
  return (
    incoming.method === "OPTIONS" &&
    incoming.header("origin") !== undefined &&
    incoming.header("access-control-request-method") !== undefined
  );
}

/** The answer to a preflight. {@link addCors} adds the headers for allowed origins. */
export function preflightAnswer(incoming: Incoming, allow: string, cors: CorsOptions): Answer {
  const asked = incoming.header("access-control-request-headers");
  const headers = ["allow", allow];
  const origin = incoming.header("origin");
  if (origin !== undefined && (cors.origins.includes("*") || cors.origins.includes(origin))) {
    headers.push("access-control-allow-methods", allow);
    const names =
      cors.headers?.join(", ") ?? (asked && /^[\w!#$%&'*+.^`|~, -]+$/.test(asked) ? asked : undefined);
    if (names) headers.push("access-control-allow-headers", names);
    headers.push("access-control-max-age", String(cors.maxAge ?? 600));
  }
  headers.push("vary", "Access-Control-Request-Headers");
  return emptyAnswer(204, headers);
}
