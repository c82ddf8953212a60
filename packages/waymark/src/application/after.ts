import type { Controller } from "../controller/controller.ts";
import { type Answer, discard, isContentless, isStream, setLength } from "../http/answer.ts";
import { BodySource } from "../http/body-source.ts";
import type { Call } from "../http/call.ts";
import { flatten } from "../http/headers.ts";
import { readableOf } from "../http/readable.ts";
import { responseAnswer } from "../http/response-answer.ts";
import { byteLength } from "../http/text.ts";
import type { RouteClass } from "../routing/routes.ts";
import type { ApplicationOptions } from "./options.ts";

interface AnsweredCall {
  readonly route: RouteClass;
  readonly call: Call;
  readonly controller: Controller;
}

/** Runs the `after()` hooks of the controller and the application on an answer. */
export async function afterwards(
  { route, call, controller }: AnsweredCall,
  answer: Answer,
  { after }: ApplicationOptions,
): Promise<Answer> {
  if (!route.hooks.after && after === undefined) return answer;
  const shown = shownResponse(answer);
  const shownBody = shown.body;
  let response = shown;
  try {
    if (route.hooks.after) response = replacement(response, await controller.after(response), shown);
    if (after !== undefined) response = replacement(response, await after(response, controller), shown);
    return await sendable(answer, { shown, shownBody, response }, call);
  } catch (error) {
    discard(answer.body);
    if (response !== shown) cancel(response);
    throw error;
  }
}

/** The answer as a `Response` for `after()`. A streamed body is read only when a hook reads the `Response`. */
function shownResponse({ status, headers, body }: Answer): Response {
  const response = new Response(isStream(body) ? readableOf(body) : body, { status });
  response.headers.delete("content-type");
  for (let at = 0; at < headers.length; at += 2) response.headers.append(headers[at]!, headers[at + 1]!);
  return response;
}

/** The response after one hook. Cancels a response that will not be sent. */
function replacement(before: Response, made: unknown, shown: Response): Response {
  if (made instanceof Error) throw made;
  if (!(made instanceof Response) || made === before) return before;
  if (before !== shown && before.body !== made.body) cancel(before);
  return made;
}

interface Shown {
  readonly shown: Response;
  /** The body before the hooks ran. `clone()` gives a `Response` another body. */
  readonly shownBody: ReadableStream | null;
  /** The response after all hooks. */
  readonly response: Response;
}

async function sendable(answer: Answer, { shown, shownBody, response }: Shown, call: Call): Promise<Answer> {
  const { body } = answer;
  // A body in memory can be sent again even if a hook has read it. An unread body with other headers needs no
  // further stream.
  const known = response === shown && !isStream(body);
  if (known || (shownBody !== null && response.body === shownBody && isUnread(response))) {
    const headers = flatten(response.headers);
    if (body !== null && !isStream(body) && !isContentless(response.status))
      setLength(headers, byteLength(body));
    return { status: response.status, headers, body };
  }
  const made = await responseAnswer(response, call);
  // If the new body reads from the shown body, it needs that body until its own end.
  const needed = made.body instanceof BodySource && shownBody?.locked === true ? made.body : undefined;
  if (needed === undefined) discard(body);
  else needed.onEnd = both(needed.onEnd, () => discard(body));
  return made;
}

function both(first: (() => void) | undefined, second: () => void): () => void {
  return () => {
    first?.();
    second();
  };
}

function isUnread({ bodyUsed, body }: Response): boolean {
  return !bodyUsed && body?.locked !== true;
}

function cancel(response: Response): void {
  if (isUnread(response)) response.body?.cancel().catch(() => undefined);
}
