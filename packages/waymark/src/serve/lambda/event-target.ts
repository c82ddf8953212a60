import { targetOf } from "../gateway/path.ts";
import { type EventV1, type EventV2, isV2, type LambdaEvent, valuesOf } from "./event.ts";

/** The request target of an event, percent-encoded. */
export function eventTarget(event: LambdaEvent): string {
  return isV2(event) ? targetOfV2(event) : targetOfV1(event);
}

function targetOfV2({ rawPath, rawQueryString: query = "", requestContext }: EventV2): string {
  const { domainName, stage } = requestContext;
  // Only an HTTP API decodes the path.
  if (domainName === undefined || domainName.includes(".lambda-url.")) return withQuery(sent(rawPath), query);
  // An HTTP API puts the name of its stage before the path, under every domain.
  return decodedTarget(withoutStage(rawPath, stage), query);
}

function targetOfV1(event: EventV1): string {
  const { requestContext, path } = event;
  const { domainName = "", stage, elb } = requestContext;
  const values = valuesOf(event.multiValueQueryStringParameters, event.queryStringParameters);
  // A load balancer passes the query as the client sent it. API Gateway decodes it.
  const coded = elb === undefined ? (text: string) => encodeURIComponent(text.toWellFormed()) : sent;
  const query = values.map(([name, value]) => `${coded(name)}=${coded(value)}`).join("&");
  // Only an HTTP API writes a version. A REST API and a load balancer pass the path as the client sent it.
  if (event.version === undefined) return withQuery(sent(path), query);
  // Under a domain of one's own, format 1.0 has the API mapping in place of the stage.
  return decodedTarget(domainName.includes(".execute-api.") ? withoutStage(path, stage) : path, query);
}

function withoutStage(path: string, stage = "$default"): string {
  return path === `/${stage}` || path.startsWith(`/${stage}/`) ? path.slice(stage.length + 1) : path;
}

function decodedTarget(path: string, query: string): string {
  return targetOf({ path: rooted(path), raw: undefined, root: "", query, encoding: "utf8" });
}

function withQuery(path: string, query: string): string {
  return query === "" ? rooted(path) : `${rooted(path)}?${query}`;
}

function rooted(path: string): string {
  return path.startsWith("/") ? path : `/${path}`;
}

/** Text that is percent-encoded already. Encodes the characters that such a text cannot contain. */
function sent(text: string): string {
  return text.toWellFormed().replace(/[^\x21-\x7e]|[?#]/gu, encodeURIComponent);
}
