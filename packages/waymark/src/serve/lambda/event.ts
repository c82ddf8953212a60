import { Buffer } from "node:buffer";

/** The parts of an event of payload format 2.0 that are used: a function URL, or an HTTP API. */
export interface EventV2 {
  readonly version: "2.0";
  readonly rawPath: string;
  readonly rawQueryString: string;
  readonly cookies?: readonly string[];
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly requestContext: {
    readonly domainName?: string;
    readonly stage?: string;
    readonly http: { readonly method: string; readonly sourceIp?: string };
  };
  readonly body?: string | null;
  readonly isBase64Encoded?: boolean;
}

type Values = Readonly<Record<string, readonly string[] | undefined>>;

/** The parts of an event of payload format 1.0 that are used: a REST API, or an HTTP API with that format. */
export interface EventV1 {
  readonly version?: string;
  readonly httpMethod: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>> | null;
  readonly multiValueHeaders?: Values | null;
  readonly queryStringParameters?: Readonly<Record<string, string | undefined>> | null;
  readonly multiValueQueryStringParameters?: Values | null;
  readonly requestContext: {
    readonly domainName?: string;
    readonly stage?: string;
    readonly identity?: { readonly sourceIp?: string };
  };
  readonly body?: string | null;
  readonly isBase64Encoded?: boolean;
}

/** An event of API Gateway or of a function URL. */
export type LambdaEvent = EventV1 | EventV2;

export function isV2(event: LambdaEvent): event is EventV2 {
  return event.version === "2.0";
}

/** The request of an event. Throws a `TypeError` for an event of another kind, such as one of a queue. */
export function requestOf(event: LambdaEvent): { request: Request; remoteAddress: string | undefined } {
  if (isV2(event)) return requestOfV2(event);
  if (typeof event.httpMethod === "string" && typeof event.path === "string") return requestOfV1(event);
  throw new TypeError(
    "the event is no HTTP request: it comes neither from a function URL nor from API Gateway",
  );
}

function requestOfV2(event: EventV2) {
  const { requestContext, rawPath, rawQueryString, cookies } = event;
  const headers = new Headers();
  for (const [name, value] of Object.entries(event.headers ?? {}))
    if (value !== undefined) headers.append(name, value);
  if (cookies !== undefined && cookies.length > 0) headers.set("cookie", cookies.join("; "));
  const { http, domainName } = requestContext;
  const path = pathOf(withoutStage(rawPath, requestContext));
  const target = rawQueryString === "" ? path : `${path}?${rawQueryString}`;
  const request = made({ method: http.method, target, headers, domainName, event });
  return { request, remoteAddress: http.sourceIp };
}

function requestOfV1(event: EventV1) {
  const headers = new Headers();
  for (const [name, value] of valuesOf(event.multiValueHeaders, event.headers)) headers.append(name, value);
  const query = valuesOf(event.multiValueQueryStringParameters, event.queryStringParameters)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join("&");
  const { domainName, identity } = event.requestContext;
  // A REST API, whose events have no version, leaves the stage out.
  const path = pathOf(event.version === "1.0" ? withoutStage(event.path, event.requestContext) : event.path);
  const target = query === "" ? path : `${path}?${query}`;
  const request = made({ method: event.httpMethod, target, headers, domainName, event });
  return { request, remoteAddress: identity?.sourceIp };
}

/** Name and value of each of several values, or of the single ones where there are no several. */
function valuesOf(
  several: Values | null | undefined,
  single: Readonly<Record<string, string | undefined>> | null | undefined,
): [string, string][] {
  if (several !== undefined && several !== null)
    return Object.entries(several).flatMap(([name, values]) =>
      (values ?? []).map((value): [string, string] => [name, value]),
    );
  return Object.entries(single ?? {}).filter((pair): pair is [string, string] => pair[1] !== undefined);
}

/** An HTTP API puts the name of its stage before the path, except under a domain of one's own. */
function withoutStage(
  path: string,
  { stage = "$default", domainName = "" }: { readonly stage?: string; readonly domainName?: string },
): string {
  if (!domainName.includes(".execute-api.")) return path;
  return path === `/${stage}` || path.startsWith(`/${stage}/`) ? path.slice(stage.length + 1) : path;
}

/** An HTTP API decodes the path. What an encoded path cannot contain is encoded again. */
function pathOf(path: string): string {
  return path
    .replaceAll(/%(?![0-9A-Fa-f]{2})/g, "%25")
    .replaceAll("?", "%3F")
    .replaceAll("#", "%23");
}

interface Parts {
  readonly method: string;
  readonly target: string;
  readonly headers: Headers;
  readonly domainName: string | undefined;
  readonly event: LambdaEvent;
}

function made({ method, target, headers, domainName, event }: Parts): Request {
  const host = headers.get("host") ?? domainName ?? "localhost";
  const scheme = headers.get("x-forwarded-proto") === "http" ? "http" : "https";
  const body =
    typeof event.body === "string" && event.body !== "" && method !== "GET" && method !== "HEAD"
      ? Buffer.from(event.body, event.isBase64Encoded === true ? "base64" : "utf8")
      : null;
  return new Request(`${scheme}://${host}${target.startsWith("/") ? "" : "/"}${target}`, {
    method,
    headers,
    body,
  });
}
