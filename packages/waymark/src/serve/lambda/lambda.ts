import { Buffer, isUtf8 } from "node:buffer";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fetchAdapter } from "../fetch-adapter.ts";
import type { RequestHandler } from "../handler.ts";
import { isV2, type LambdaEvent, requestOf } from "./event.ts";

export type { LambdaEvent } from "./event.ts";

/** What a function returns for an event: `multiValueHeaders` for payload format 1.0, the rest for 2.0. */
export interface LambdaResult {
  /** The HTTP status. */
  readonly statusCode: number;
  /** Headers of payload format 2.0, without `set-cookie`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers of payload format 1.0. */
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[]>>;
  /** `set-cookie` headers of payload format 2.0. */
  readonly cookies?: readonly string[];
  /** The body, as text or in Base64. */
  readonly body: string;
  /** True if `body` is in Base64, because the bytes are not UTF-8. */
  readonly isBase64Encoded: boolean;
}

/** The handler of a Lambda function. */
export type LambdaHandler = (event: LambdaEvent, context?: unknown) => Promise<LambdaResult>;

/** Where `waymark build` finds the application of a module, to check it. */
const APPLICATION: unique symbol = Symbol.for("@tollway/waymark.application");

/**
 * Serves an application as a Lambda function behind a function URL or API Gateway: `export const handler =
 * lambda(application)`. Lambda takes the whole answer at once. A stream is complete when its generator has ended.
 * @example
 * ```ts
 * import { Application } from "@tollway/waymark";
 * import { lambda } from "@tollway/waymark/lambda";
 *
 * export const handler = lambda(new Application({ controllers: {} }));
 * ```
 */
export function lambda(application: RequestHandler): LambdaHandler {
  const handler: LambdaHandler = async (event) => {
    const { request, remoteAddress } = requestOf(event);
    const response = await fetchAdapter(application, request, { remoteAddress });
    const bytes = Buffer.from(await response.arrayBuffer());
    const isText = isUtf8(bytes);
    return {
      statusCode: response.status,
      ...(isV2(event) ? headV2(response) : { multiValueHeaders: valuesOf(response.headers) }),
      body: bytes.toString(isText ? "utf8" : "base64"),
      isBase64Encoded: !isText,
    };
  };
  return Object.defineProperty(handler, APPLICATION, { value: application });
}

function headV2({ headers }: Response): Pick<LambdaResult, "headers" | "cookies"> {
  const cookies = headers.getSetCookie();
  const rest = Object.fromEntries([...headers].filter(([name]) => name !== "set-cookie"));
  return cookies.length === 0 ? { headers: rest } : { headers: rest, cookies };
}

function valuesOf(headers: Headers): Record<string, string[]> {
  const values: Record<string, string[]> = {};
  for (const [name, value] of headers) {
    values[name] ??= [];
    values[name].push(value);
  }
  return values;
}

/** The globals of Lambda's Node runtime for functions that stream. */
interface StreamingRuntime {
  streamifyResponse(
    handler: (event: LambdaEvent, stream: Writable, context: unknown) => Promise<void>,
  ): unknown;
  HttpResponseStream: {
    from(
      stream: Writable,
      head: { statusCode: number; headers?: Record<string, string>; cookies?: readonly string[] },
    ): Writable;
  };
}

/**
 * Like {@link lambda}, for a function URL whose invoke mode is `RESPONSE_STREAM`: the caller gets each piece as it
 * arrives.
 * @example
 * ```ts
 * import { Application } from "@tollway/waymark";
 * import { streamingLambda } from "@tollway/waymark/lambda";
 *
 * export const handler = streamingLambda(new Application({ controllers: {} }));
 * ```
 */
export function streamingLambda(application: RequestHandler): unknown {
  const { awslambda } = globalThis as unknown as { awslambda?: StreamingRuntime };
  if (awslambda === undefined)
    throw new TypeError("a streaming function runs only on AWS Lambda's Node runtime");
  const handler = awslambda.streamifyResponse(async (event, stream) => {
    const { request, remoteAddress } = requestOf(event);
    const left = new AbortController();
    stream.once("close", () => left.abort());
    const response = await fetchAdapter(application, request, { remoteAddress, signal: left.signal });
    const head = { statusCode: response.status, ...headV2(response) } as { statusCode: number };
    const out = awslambda.HttpResponseStream.from(stream, head);
    // Lambda sends the head with the first write, so an event stream opens before its first event.
    out.write("");
    if (response.body === null) out.end();
    else await pipeline(Readable.fromWeb(response.body as never), out);
  });
  return Object.defineProperty(handler as object, APPLICATION, { value: application });
}
