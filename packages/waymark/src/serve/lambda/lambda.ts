import { Buffer, isUtf8 } from "node:buffer";
import { type Answer, isStream } from "../../http/answer.ts";
import { HttpError, problemAnswer } from "../../http/http-error.ts";
import { passableAnswer } from "../gateway/head.ts";
import type { RequestHandler } from "../handler.ts";
import type { LambdaEvent } from "./event.ts";
import { answerHead } from "./event-answer.ts";
import { LambdaIncoming } from "./lambda-incoming.ts";
import { type StreamingRuntime, sendBody } from "./response-stream.ts";

export type { LambdaEvent } from "./event.ts";

/** The result of a function, in the form that the source of the event takes. */
export interface LambdaResult {
  /** The HTTP status. */
  readonly statusCode: number;
  /** Headers for payload format 2.0, without `set-cookie`, and for a load balancer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers for payload format 1.0, and for a load balancer with several values. */
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[]>>;
  /** `set-cookie` headers for payload format 2.0. */
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
 * Serves an application as a Lambda function behind a function URL, API Gateway or an Application Load Balancer:
 * `export const handler = lambda(application)`. Lambda takes the whole answer at once. A stream is complete when its
 * generator has ended.
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
    const incoming = new LambdaIncoming(event);
    const report = (error: unknown) => application.report(error, incoming);
    const answer = await wholeAnswer(passableAnswer(await application.handle(incoming), report), report);
    return { ...answerHead(event, answer.status, answer.headers), ...bodyOf(answer.body) };
  };
  return Object.defineProperty(handler, APPLICATION, { value: application });
}

type WholeAnswer = Answer & { body: string | Uint8Array | null };

/** Reads a stream to its end. Nothing has been sent yet, so its error is an answer of its own. */
async function wholeAnswer(answer: Answer, report: (error: unknown) => void): Promise<WholeAnswer> {
  const { status, headers, body } = answer;
  if (!isStream(body)) return { status, headers, body };
  try {
    const pieces: Uint8Array[] = [];
    for await (const piece of body) pieces.push(typeof piece === "string" ? Buffer.from(piece) : piece);
    return { status, headers, body: Buffer.concat(pieces) };
  } catch (error) {
    report(error);
    return problemAnswer(new HttpError(500)) as WholeAnswer;
  }
}

function bodyOf(body: string | Uint8Array | null): Pick<LambdaResult, "body" | "isBase64Encoded"> {
  if (body === null) return { body: "", isBase64Encoded: false };
  if (typeof body === "string") return { body: body.toWellFormed(), isBase64Encoded: false };
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const isText = isUtf8(bytes);
  return { body: bytes.toString(isText ? "utf8" : "base64"), isBase64Encoded: !isText };
}

/**
 * Like {@link lambda}, for a function URL whose invoke mode is `RESPONSE_STREAM` and for a REST API that streams: the
 * caller gets each piece as it arrives.
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
    const incoming = new LambdaIncoming(event);
    const report = (error: unknown) => application.report(error, incoming);
    const answer = passableAnswer(await application.handle(incoming), report);
    const head = answerHead(event, answer.status, answer.headers);
    await sendBody(awslambda.HttpResponseStream.from(stream, head), answer.body, incoming, report);
  });
  return Object.defineProperty(handler as object, APPLICATION, { value: application });
}
