import type { Controller } from "../controller.ts";
import type { Answer } from "../http/answer.ts";
import type { Call } from "../http/call.ts";
import { responseAnswer } from "../http/convert.ts";
import { HttpError, problemAnswer } from "../http/error.ts";
import type { Incoming } from "../http/incoming.ts";
import type { RouteClass } from "../routing/model.ts";
import type { BindFaults } from "../signature/faults.ts";
import type { ApplicationOptions } from "./options.ts";

/** What was known of a request when it failed. */
export interface Failure {
  readonly call: Call;
  readonly controller: Controller;
  readonly route: RouteClass;
}

/** Everything that is wrong with the arguments, as one error. */
export function faultsError({ status, faults }: BindFaults): HttpError {
  const [first] = faults;
  const name = first!.name === "" ? "" : `${first!.name}: `;
  const detail =
    faults.length === 1 ? `${name}${first!.message}` : `${faults.length} arguments are not valid`;
  return new HttpError(status, detail, { errors: faults });
}

/** The answer to an error of a call: a thrown `Response`, what a hook makes of it, else problem details. */
export function failed(
  error: unknown,
  { call, controller, route }: Failure,
  options: ApplicationOptions,
): Answer | Promise<Answer> {
  if (error instanceof Response) {
    try {
      return responseAnswer(error, call.response);
    } catch (unsendable) {
      return failed(unsendable, { call, controller, route }, options);
    }
  }
  if (options.onError === undefined && !route.hooks.onError) return problem(error, call.incoming, options);
  return hooked(error, call.incoming, options, route.hooks.onError ? controller : undefined, controller);
}

/** The same for an error that no controller has a part in, such as a 404. */
export function unrouted(
  error: unknown,
  incoming: Incoming,
  options: ApplicationOptions,
): Answer | Promise<Answer> {
  if (options.onError === undefined) return problem(error, incoming, options);
  return hooked(error, incoming, options, undefined, undefined);
}

async function hooked(
  thrown: unknown,
  incoming: Incoming,
  options: ApplicationOptions,
  hooking: Controller | undefined,
  controller: Controller | undefined,
): Promise<Answer> {
  let error = thrown;
  try {
    let answered: unknown = await hooking?.onError(error);
    if (!(answered instanceof Response)) answered = await options.onError?.(error, controller);
    if (answered instanceof Response) return responseAnswer(answered);
  } catch (again) {
    if (again instanceof Response && again.status >= 200 && !again.bodyUsed) return responseAnswer(again);
    error = again;
  }
  return problem(error, incoming, options);
}

/** Problem details for an error that no hook has taken. */
export function problem(error: unknown, incoming: Incoming, options: ApplicationOptions): Answer {
  if (HttpError.is(error)) {
    if (error.status >= 500 && error.cause !== undefined) report(error, incoming, options);
    return problemAnswer(error);
  }
  // What fails because the client has gone is no news.
  if (!incoming.gone) report(error, incoming, options);
  if (options.debug !== true) return problemAnswer(new HttpError(500));
  const shown = error instanceof Error ? error : new Error(`thrown: ${String(error)}`);
  return problemAnswer(
    new HttpError(500, `${shown.name}: ${shown.message}`, { stack: shown.stack?.split("\n") ?? [] }),
  );
}

/** Tells the log of an error that no client is told of. */
export function report(
  error: unknown,
  { method, target }: Pick<Incoming, "method" | "target">,
  options: ApplicationOptions,
): void {
  try {
    if (options.log !== undefined) options.log(error, { method, target });
    else console.error(`${method} ${target.slice(0, 200)}:`, error);
  } catch {
    // A log that fails must not take the answer with it.
  }
}
