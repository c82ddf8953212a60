import type { Exchange } from "../controller/exchange.ts";
import type { Next, Part } from "../controller/part.ts";
import { type Answer, discard, isStream, withoutBody } from "../http/answer.ts";
import type { Incoming } from "../http/incoming.ts";
import { responseAnswer } from "../http/response-answer.ts";
import { observedBody } from "./observed-body.ts";

type Hook = (exchange: Exchange) => unknown;

/** The hooks of all parts, each in its order. */
export interface Observers {
  readonly onRequest: readonly Hook[];
  readonly around: readonly NonNullable<Part["around"]>[];
  /** The last part first, so that an earlier part sees what the later ones have made of the answer. */
  readonly onAnswer: readonly Hook[];
  readonly onEnd: readonly Hook[];
}

/** The functions of the application that answer an exchange and handle an error of a hook. */
export interface Observed {
  answer(exchange: Exchange): Answer | Promise<Answer>;
  failed(error: unknown, incoming: Incoming): Answer | Promise<Answer>;
  report(error: unknown, incoming: Incoming): void;
}

/** Undefined if no part has a hook: requests then pay nothing. */
export function observersOf(parts: readonly Part[]): Observers | undefined {
  const onRequest: Hook[] = [];
  const around: NonNullable<Part["around"]>[] = [];
  const onAnswer: Hook[] = [];
  const onEnd: Hook[] = [];
  for (const part of parts) {
    if (part.onRequest !== undefined) onRequest.push((exchange) => part.onRequest!(exchange));
    if (part.around !== undefined) around.push((exchange, next) => part.around!(exchange, next));
    if (part.onAnswer !== undefined) onAnswer.unshift((exchange) => part.onAnswer!(exchange));
    if (part.onEnd !== undefined) onEnd.unshift((exchange) => part.onEnd!(exchange));
  }
  const count = onRequest.length + around.length + onAnswer.length + onEnd.length;
  return count === 0 ? undefined : { onRequest, around, onAnswer, onEnd };
}

/** Answers a request and runs the hooks. Synchronous if no step is asynchronous. Never throws, never rejects. */
export function observe(
  hooks: Observers,
  exchange: Exchange,
  application: Observed,
): Answer | Promise<Answer> {
  let answer: Answer | Promise<Answer>;
  try {
    answer = request(hooks, exchange, application, 0);
  } catch (error) {
    answer = failure(error, exchange, application);
  }
  return answer instanceof Promise
    ? answer
        .catch((error) => failure(error, exchange, application))
        .then((settled) => answered(hooks, exchange, application, settled))
    : answered(hooks, exchange, application, answer);
}

function request(
  hooks: Observers,
  exchange: Exchange,
  application: Observed,
  from: number,
): Answer | Promise<Answer> {
  for (let at = from; at < hooks.onRequest.length; at++) {
    const early = hooks.onRequest[at]!(exchange);
    if (early === undefined) continue;
    if (early instanceof Promise)
      return early.then(
        (settled) => earlyAnswer(settled, exchange) ?? request(hooks, exchange, application, at + 1),
      );
    const answer = earlyAnswer(early, exchange);
    if (answer !== undefined) return answer;
  }
  if (hooks.around.length === 0) return application.answer(exchange);
  return surround(hooks.around, exchange, 0, () => application.answer(exchange));
}

function earlyAnswer(early: unknown, { incoming }: Exchange): Answer | Promise<Answer> | undefined {
  if (early === undefined || early === null || typeof early !== "object") return undefined;
  if (early instanceof Error) throw early;
  return early instanceof Response ? responseAnswer(early, { incoming }) : undefined;
}

function surround(
  around: Observers["around"],
  exchange: Exchange,
  at: number,
  innermost: Next,
): Answer | Promise<Answer> {
  const hook = around[at];
  if (hook === undefined) return innermost();
  return hook(exchange, () => surround(around, exchange, at + 1, innermost));
}

function answered(
  hooks: Observers,
  exchange: Exchange,
  application: Observed,
  answer: Answer,
): Answer | Promise<Answer> {
  exchange.answer = answer;
  return eachAnswerHook(hooks, exchange, application, 0);
}

function eachAnswerHook(
  hooks: Observers,
  exchange: Exchange,
  application: Observed,
  from: number,
): Answer | Promise<Answer> {
  for (let at = from; at < hooks.onAnswer.length; at++) {
    let result: unknown;
    try {
      result = hooks.onAnswer[at]!(exchange);
    } catch (error) {
      result = Promise.reject(error);
    }
    if (result instanceof Promise)
      return result
        .catch((error) => replaced(exchange, application, error))
        .then(() => eachAnswerHook(hooks, exchange, application, at + 1));
  }
  return ended(hooks, exchange, application);
}

/** A hook that fails replaces the answer by an error. The other hooks see that answer. */
async function replaced(exchange: Exchange, application: Observed, error: unknown): Promise<void> {
  discard(exchange.body);
  exchange.answer = await failure(error, exchange, application);
}

/** The answer to a hook's error, or the `Response` that it has thrown. */
function failure(error: unknown, exchange: Exchange, application: Observed): Answer | Promise<Answer> {
  const { incoming } = exchange;
  if (error instanceof Response)
    return Promise.resolve(error)
      .then((response) => responseAnswer(response, { incoming }))
      .catch((unsendable) => failure(unsendable, exchange, application));
  exchange.error = error;
  return application.failed(error, incoming);
}

function ended(hooks: Observers, exchange: Exchange, application: Observed): Answer {
  const { incoming, answer } = exchange;
  const sent = incoming.method === "HEAD" ? withoutBody(answer) : answer;
  if (hooks.onEnd.length === 0) return sent;
  const { body } = sent;
  if (isStream(body))
    return { ...sent, body: observedBody(body, exchange, () => end(hooks, exchange, application)) };
  exchange.bytes = body === null ? 0 : sent.ascii === true ? body.length : lengthOf(exchange, body);
  exchange.complete = true;
  end(hooks, exchange, application);
  return sent;
}

function end({ onEnd }: Observers, exchange: Exchange, application: Observed): void {
  for (let at = 0; at < onEnd.length; at++) {
    try {
      const result = onEnd[at]!(exchange);
      if (result instanceof Promise)
        result.catch((error: unknown) => application.report(error, exchange.incoming));
    } catch (error) {
      application.report(error, exchange.incoming);
    }
  }
}

/** The length that the answer announces. Every body in memory has one. */
function lengthOf({ answer: { headers } }: Exchange, body: string | Uint8Array): number {
  for (let at = 0; at < headers.length; at += 2)
    if (headers[at] === "content-length") return Number(headers[at + 1]);
  return body.length;
}
