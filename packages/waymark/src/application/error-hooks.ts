import type { Controller } from "../controller/controller.ts";
import type { Answer } from "../http/answer.ts";
import type { Incoming } from "../http/incoming.ts";
import { responseAnswer } from "../http/response-answer.ts";
import type { ApplicationOptions } from "./options.ts";

/** The controller of a failed call. */
export interface Concerned {
  readonly controller: Controller;
  /** Whether the controller has an `onError()` of its own. */
  readonly isHooked: boolean;
}

/** The answer of the first error hook that answers. Throws the error if none does, and the error of a hook. */
export async function hookAnswer(
  error: unknown,
  incoming: Incoming,
  options: ApplicationOptions,
  concerned: Concerned | undefined,
): Promise<Answer> {
  try {
    let answered: unknown = concerned?.isHooked ? await concerned.controller.onError(error) : undefined;
    if (answered instanceof Error) throw answered;
    if (!(answered instanceof Response)) answered = await options.onError?.(error, concerned?.controller);
    if (answered instanceof Error) throw answered;
    if (answered instanceof Response) return await responseAnswer(answered, { incoming });
  } catch (again) {
    if (!(again instanceof Response)) throw again;
    return await responseAnswer(again, { incoming });
  }
  throw error;
}
