import type { Answer } from "../http/answer.ts";
import { refuseEncoding } from "../http/body-kind.ts";
import { toAnswer } from "../http/to-answer.ts";
import { BindFaults } from "../signature/bind/bind-faults.ts";
import type { BindResult } from "../signature/bind/binder.ts";
import type { BodyInput } from "../signature/model/input.ts";
import { failed, faultsError } from "./failure.ts";
import { performWithHooks } from "./hooks.ts";
import type { Matched } from "./matched.ts";
import type { ApplicationOptions } from "./options.ts";
import { parseBody } from "./parsed-body.ts";

/**
 * Calls the method of a request whose class and verb are known: `before()`, arity, body, names and types, method,
 * `after()`. Answers synchronously if no step is asynchronous. Never throws, never rejects.
 */
export function perform(matched: Matched, options: ApplicationOptions): Answer | Promise<Answer> {
  try {
    const answer = hasHooks(matched, options)
      ? performWithHooks(matched, options, performDirectly)
      : performDirectly(matched);
    return answer instanceof Promise ? answer.catch((error) => failed(error, matched, options)) : answer;
  } catch (error) {
    return failed(error, matched, options);
  }
}

function hasHooks({ route: { hooks }, entry }: Matched, { before, after }: ApplicationOptions): boolean {
  return (
    hooks.before || hooks.after || entry.guard !== undefined || before !== undefined || after !== undefined
  );
}

function performDirectly(matched: Matched): Answer | Promise<Answer> {
  const bound = bind(matched);
  return bound instanceof Promise
    ? bound.then((settled) => callMethod(matched, settled))
    : callMethod(matched, bound);
}

function callMethod(matched: Matched, bound: BindResult): Answer | Promise<Answer> {
  if (bound instanceof BindFaults) throw faultsError(bound, matched);
  const { call, entry } = matched;
  const { project } = entry;
  const value: unknown = entry.method.apply(matched.controller, bound as never[]);
  if (!isThenable(value)) return toAnswer(project === undefined ? value : project(value), call);
  return Promise.resolve(value).then((settled) =>
    toAnswer(project === undefined ? settled : project(settled), call),
  );
}

/** The arguments of the call. A promise if the body is still arriving, or if parsing or a schema is asynchronous. */
function bind(matched: Matched): BindResult | Promise<BindResult> {
  const { entry, call } = matched;
  if (!takesBody(matched)) return entry.binder.bind({ segments: call.positionals, query: call.query });
  const bytes = readBody(matched);
  return bytes instanceof Promise ? bytes.then((read) => bindBody(matched, read)) : bindBody(matched, bytes);
}

/** True if the body fills arguments. The method itself can read any other body. */
function takesBody({ entry, call }: Matched): boolean {
  return call.incoming.hasBody && entry.binder.readsBody && call.kind !== "other";
}

/** Checks the arity before it reads the body, which is never read beyond the limit. */
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
  // An empty body counts as no body. Some interfaces cannot tell before the body is read.
  if (bytes.length > 0) refuseEncoding(call.incoming);
  const bindParsed = (body: BodyInput | undefined) => {
    call.body = body;
    return entry.binder.bind({ segments: call.positionals, query: call.query, body });
  };
  const body = parseBody(call, bytes, entry.binder);
  return body instanceof Promise ? body.then(bindParsed) : bindParsed(body);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function"
  );
}
