import { Buffer } from "node:buffer";

type Single = Readonly<Record<string, string | undefined>>;
type Several = Readonly<Record<string, readonly string[] | undefined>>;

/** The parts of an event of payload format 2.0 that are used: a function URL, or an HTTP API. */
export interface EventV2 {
  readonly version: "2.0";
  readonly rawPath: string;
  readonly rawQueryString?: string;
  readonly cookies?: readonly string[] | null;
  readonly headers?: Single | null;
  readonly requestContext: {
    readonly domainName?: string;
    readonly stage?: string;
    readonly http: { readonly method: string; readonly sourceIp?: string };
  };
  readonly body?: string | null;
  readonly isBase64Encoded?: boolean;
}

/** The parts of an event of payload format 1.0 that are used: a REST API, an HTTP API with that format, a load balancer. */
export interface EventV1 {
  readonly version?: string;
  readonly httpMethod: string;
  readonly path: string;
  readonly headers?: Single | null;
  readonly multiValueHeaders?: Several | null;
  readonly queryStringParameters?: Single | null;
  readonly multiValueQueryStringParameters?: Several | null;
  readonly requestContext: {
    readonly domainName?: string;
    readonly stage?: string;
    readonly identity?: { readonly sourceIp?: string };
    /** Only load balancers have it. */
    readonly elb?: { readonly targetGroupArn: string };
  };
  readonly body?: string | null;
  readonly isBase64Encoded?: boolean;
}

/** An event of API Gateway, of a function URL, or of an Application Load Balancer. */
export type LambdaEvent = EventV1 | EventV2;

export function isV2(event: LambdaEvent): event is EventV2 {
  return event.version === "2.0";
}

/** Throws a `TypeError` for an event of another kind, such as one of a queue. */
export function checkEvent(event: LambdaEvent): void {
  // A function can be invoked with any JSON, whatever the declared type says.
  const given = event as unknown as { [name: string]: unknown } | null | undefined;
  const context = given?.requestContext as { http?: { method?: unknown } } | null | undefined;
  const isRequest =
    given?.version === "2.0"
      ? typeof given.rawPath === "string" && typeof context?.http?.method === "string"
      : typeof given?.httpMethod === "string" && typeof given.path === "string" && context != null;
  if (!isRequest)
    throw new TypeError(
      "the event is not an HTTP request: the sources of HTTP requests are function URLs, API Gateway and load balancers",
    );
}

/** Names in lower case with their values. A name of several values occurs several times. */
export function headersOf(event: LambdaEvent): [string, string][] {
  const given = isV2(event)
    ? valuesOf(undefined, event.headers)
    : valuesOf(event.multiValueHeaders, event.headers);
  const headers = given.map(([name, value]): [string, string] => [name.toLowerCase(), byteText(value)]);
  if (!isV2(event) || event.cookies == null || event.cookies.length === 0) return headers;
  // A function URL may also have the header itself.
  return [...headers.filter(([name]) => name !== "cookie"), ["cookie", byteText(event.cookies.join("; "))]];
}

/** Name and value of each of several values, or of the single ones where there are no several. */
export function valuesOf(
  several: Several | null | undefined,
  single: Single | null | undefined,
): [string, string][] {
  const pairs = Object.entries(several ?? {}).flatMap(([name, values]) =>
    (values ?? []).map((value): [string, string] => [name, value]),
  );
  if (pairs.length > 0) return pairs;
  return Object.entries(single ?? {}).filter((pair): pair is [string, string] => typeof pair[1] === "string");
}

/** Headers have one character for each byte, as on the other runtimes. Events may contain decoded UTF-8. */
function byteText(value: string): string {
  return /[^\0-\xff]/.test(value) ? Buffer.from(value, "utf8").toString("latin1") : value;
}
