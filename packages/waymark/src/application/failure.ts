import type { Controller } from "../controller/controller.ts";
import type { Exchange } from "../controller/exchange.ts";
import type { Answer } from "../http/answer.ts";
import { sourceOf } from "../http/body-source.ts";
import type { Call } from "../http/call.ts";
import { HttpError, problemAnswer } from "../http/http-error.ts";
import type { Incoming } from "../http/incoming.ts";
import { responseAnswer } from "../http/response-answer.ts";
import type { RouteClass, Routes, RouteVerb } from "../routing/routes.ts";
import type { BindFaults } from "../signature/bind/bind-faults.ts";
import { type Concerned, hookAnswer } from "./error-hooks.ts";
import { errorText, escapeControls } from "./log-text.ts";
import { tooManySegments } from "./missing.ts";
import type { ApplicationOptions } from "./options.ts";
import { shownError } from "./shown-error.ts";

/** The route that a request matched. */
interface Place {
  readonly routes: Routes;
  readonly route: RouteClass;
  readonly entry: RouteVerb;
  readonly call: Call;
}

/** A matched request and its controller. */
export interface Failure extends Place {
  readonly controller: Controller;
  readonly exchange: Exchange | undefined;
}

/** One error for all faults of the arguments. */
export function faultsError({ status, faults }: BindFaults, place: Place): HttpError {
  const { binder } = place.entry;
  if (place.call.positionals.length > binder.maximum) return tooManySegments(faults, place);
  const [first] = faults;
  const name = first!.name === "" ? "" : `${first!.name}: `;
  const detail =
    faults.length === 1 ? `${name}${first!.message}` : `${faults.length} arguments are not valid`;
  return new HttpError(status, detail, { errors: faults });
}

/** The answer to an error of a call: a thrown `Response`, the `Response` of an error hook, or problem details. */
export function failed(
  error: unknown,
  failure: Failure,
  options: ApplicationOptions,
): Answer | Promise<Answer> {
  const { call, controller, exchange, route } = failure;
  if (exchange !== undefined && !(error instanceof Response)) exchange.error = error;
  if (error instanceof Response) return sent(error, failure, options);
  // A thrown stream is not sent.
  if (typeof error === "object" && error !== null) void sourceOf(error)?.return();
  if (options.onError === undefined && !route.hooks.onError) return problem(error, call.incoming, options);
  return hooked(error, call.incoming, options, { controller, isHooked: route.hooks.onError });
}

async function sent(response: Response, failure: Failure, options: ApplicationOptions): Promise<Answer> {
  try {
    return await responseAnswer(response, failure.call);
  } catch (unsendable) {
    return failed(unsendable, failure, options);
  }
}

/** The answer to an error without a controller, such as a 404. */
export function unrouted(
  error: unknown,
  incoming: Incoming,
  options: ApplicationOptions,
): Answer | Promise<Answer> {
  if (options.onError === undefined) return problem(error, incoming, options);
  return hooked(error, incoming, options, undefined);
}

async function hooked(
  error: unknown,
  incoming: Incoming,
  options: ApplicationOptions,
  concerned: Concerned | undefined,
): Promise<Answer> {
  try {
    return await hookAnswer(error, incoming, options, concerned);
  } catch (unanswered) {
    return problem(unanswered, incoming, options);
  }
}

/** Problem details for an error that no hook has answered. */
export function problem(error: unknown, incoming: Incoming, options: ApplicationOptions): Answer {
  if (HttpError.is(error)) {
    if (error.status >= 500 && error.cause !== undefined) report(error, incoming, options);
    return problemAnswer(error);
  }
  // A failure is expected when the client has gone away.
  if (!incoming.gone) report(error, incoming, options);
  return problemAnswer(options.debug === true ? shownError(error) : new HttpError(500));
}

/** Logs an error that is not sent to the client. */
export function report(
  error: unknown,
  { method, target }: Pick<Incoming, "method" | "target">,
  options: ApplicationOptions,
): void {
  try {
    if (options.log !== undefined) options.log(error, { method, target });
    else console.error(`${escapeControls(`${method} ${target.slice(0, 200)}`)}: ${errorText(error)}`);
  } catch {
    // A log function that throws must not prevent the answer.
  }
}
