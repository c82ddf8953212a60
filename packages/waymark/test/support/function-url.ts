import type { LambdaEvent, LambdaResult } from "@tollway/waymark/lambda";
import type { CaseAnswer, CaseRequest } from "../table/case.ts";
import { functionUrl, URL_HOST } from "./lambda-events.ts";

/** Types of bodies that AWS passes as text. It passes all others in Base64. */
const TEXTUAL = /^(?:text\/|application\/(?:json|xml|javascript)\b)/i;

/** The event that a function URL makes of a request. */
export function eventOf({ method, target, headers, body }: Omit<CaseRequest, "chunked">): LambdaEvent {
  const combined: Record<string, string> = { host: URL_HOST };
  for (const [given, value] of headers) {
    const name = given.toLowerCase();
    const isFirst = combined[name] === undefined || name === "host";
    combined[name] = isFirst ? value : `${combined[name]},${value}`;
  }
  const mark = target.indexOf("?");
  const cookies = combined.cookie?.split(/; */);
  const isText = TEXTUAL.test(combined["content-type"] ?? "");
  const bytes = Buffer.from(body ?? []);
  return functionUrl(
    {
      rawPath: mark === -1 ? target : target.slice(0, mark),
      rawQueryString: mark === -1 ? "" : target.slice(mark + 1),
      cookies,
      body: bytes.length === 0 ? undefined : bytes.toString(isText ? "utf8" : "base64"),
      isBase64Encoded: bytes.length > 0 && !isText,
    },
    {
      method,
      headers: {
        accept: undefined,
        "user-agent": undefined,
        ...combined,
        "content-length": String(bytes.length),
      },
    },
  );
}

/** The answer that a function URL makes of a result. */
export function answerOf(result: LambdaResult): CaseAnswer {
  const { headers = {}, cookies = [], body, isBase64Encoded, statusCode } = result;
  return {
    status: statusCode,
    headers: [...Object.entries(headers), ...cookies.map((cookie) => ["set-cookie", cookie] as const)],
    body: Buffer.from(body, isBase64Encoded ? "base64" : "utf8"),
  };
}
