import type { Controller } from "../controller.ts";
import type { Answer } from "../http/answer.ts";
import { refuseEncoding } from "../http/body.ts";
import type { Call } from "../http/call.ts";
import { toAnswer } from "../http/convert.ts";
import { responseAnswer } from "../http/response.ts";
import type { RouteClass, Routes, RouteVerb } from "../routing/model.ts";
import type { BindResult, BodyInput } from "../signature/binder.ts";
import { BindFaults } from "../signature/faults.ts";
import { afterwards } from "./after.ts";
import { parseBody } from "./body.ts";
import { failed, faultsError } from "./failure.ts";
import type { ApplicationOptions } from "./options.ts";

/** Everything that one call needs, besides the request. */
export interface Matched {
  readonly routes: Routes;
  readonly route: RouteClass;
  readonly entry: RouteVerb;
  readonly call: Call;
  readonly controller: Controller;
}

/**
 * Calls the method of a request that has found its class and verb: `before()`, arity, body, names and types,
 * method, `after()`. Answers at once where nothing has to be waited for; never throws, never rejects.
 */
export function perform(matched: Matched, options: ApplicationOptions): Answer | Promise<Answer> {
  const { route, call } = matched;
  const { hooks } = route;
  if (hooks.before || hooks.after || options.before !== undefined || options.after !== undefined)
    return performWithHooks(matched, options);
  try {
    const bound = bind(matched);
    if (bound instanceof Promise) return performBound(matched, bound, options);
    const value = invoke(matched, bound);
    if (isThenable(value)) return finish(matched, value, options);
    const answer = toAnswer(value, call);
    return answer instanceof Promise ? guard(matched, answer, options) : answer;
  } catch (error) {
    return failed(error, matched, options);
  }
}

/** The arguments of the call. A promise where a body has still to arrive, or takes long to parse or to judge. */
function bind(matched: Matched): BindResult | Promise<BindResult> {
  const { entry, call } = matched;
  if (!takesBody(matched)) return entry.binder.bind({ segments: call.positionals, query: call.query });
  const bytes = readBody(matched);
  return bytes instanceof Promise ? bytes.then((read) => bindBody(matched, read)) : bindBody(matched, bytes);
}

/** True for a body that fills arguments; any other is left to the method. */
function takesBody({ entry, call }: Matched): boolean {
  return call.incoming.hasBody && entry.binder.readsBody && call.kind !== "other";
}

function invoke(matched: Matched, bound: BindResult): unknown {
  if (bound instanceof BindFaults) throw faultsError(bound, matched);
  return matched.entry.method.apply(matched.controller, bound as never[]);
}

async function guard(
  matched: Matched,
  answer: Promise<Answer>,
  options: ApplicationOptions,
): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    return failed(error, matched, options);
  }
}

async function finish(
  matched: Matched,
  value: PromiseLike<unknown>,
  options: ApplicationOptions,
): Promise<Answer> {
  try {
    return await toAnswer(await value, matched.call);
  } catch (error) {
    return failed(error, matched, options);
  }
}

async function performBound(
  matched: Matched,
  bound: Promise<BindResult>,
  options: ApplicationOptions,
): Promise<Answer> {
  try {
    return await toAnswer(await invoke(matched, await bound), matched.call);
  } catch (error) {
    return failed(error, matched, options);
  }
}

/** Arity is looked at before the body; what is read of that is never more than the limit. */
function readBody(matched: Matched): Uint8Array | Promise<Uint8Array> {
  const { entry, call } = matched;
  const { positionals, query } = call;
  if (positionals.length > entry.binder.maximum) {
    const faults = entry.binder.bind({ segments: positionals, query });
    if (faults instanceof BindFaults) throw faultsError(faults, matched);
  }
  return call.read();
}

function bindBody({ entry, call }: Matched, bytes: Uint8Array): BindResult | Promise<BindResult> {
  call.bytes = bytes;
  // An empty body is none, and only some interfaces know before it is read.
  if (bytes.length > 0) refuseEncoding(call.incoming);
  const bindParsed = (body: BodyInput | undefined) => {
    call.body = body;
    return entry.binder.bind({ segments: call.positionals, query: call.query, body });
  };
  const body = parseBody(call, bytes);
  return body instanceof Promise ? body.then(bindParsed) : bindParsed(body);
}

async function performWithHooks(matched: Matched, options: ApplicationOptions): Promise<Answer> {
  try {
    let answer: Answer;
    try {
      answer = await answerOf(matched, options);
    } catch (thrown) {
      if (!(thrown instanceof Response)) throw thrown;
      answer = await responseAnswer(thrown, matched.call);
    }
    return await afterwards(matched, answer, options);
  } catch (error) {
    return failed(error, matched, options);
  }
}

async function answerOf(matched: Matched, options: ApplicationOptions): Promise<Answer> {
  const { route, call, controller } = matched;
  let early = await options.before?.(controller);
  if (!(early instanceof Response) && !(early instanceof Error) && route.hooks.before)
    early = await controller.before();
  if (early instanceof Response) return responseAnswer(early, call);
  // A returned error must not let the request through.
  if (early instanceof Error) throw early;
  return toAnswer(await invoke(matched, await bind(matched)), call);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function"
  );
}
