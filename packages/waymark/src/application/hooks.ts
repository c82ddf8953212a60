import type { Answer } from "../http/answer.ts";
import { responseAnswer } from "../http/response-answer.ts";
import { afterwards } from "./after.ts";
import type { Matched } from "./matched.ts";
import type { ApplicationOptions } from "./options.ts";

/** Binds the arguments and calls the method. */
type Perform = (matched: Matched) => Answer | Promise<Answer>;

/** Calls a method between its guard and the hooks `before()` and `after()`. */
export async function performWithHooks(
  matched: Matched,
  options: ApplicationOptions,
  perform: Perform,
): Promise<Answer> {
  let answer: Answer;
  try {
    const early = await earlyAnswer(matched, options);
    answer = early === undefined ? await perform(matched) : await responseAnswer(early, matched.call);
  } catch (thrown) {
    if (!(thrown instanceof Response)) throw thrown;
    answer = await responseAnswer(thrown, matched.call);
  }
  return afterwards(matched, answer, options);
}

async function earlyAnswer(
  { route, entry, controller }: Matched,
  options: ApplicationOptions,
): Promise<Response | undefined> {
  let early = refusalOf(await options.before?.(controller));
  if (early === undefined && entry.guard !== undefined) early = refusalOf(await entry.guard(controller));
  if (early === undefined && route.hooks.before) early = refusalOf(await controller.before());
  return early;
}

/** The response of a hook that answers itself. A returned error must not let the request through. */
function refusalOf(returned: unknown): Response | undefined {
  if (returned instanceof Error) throw returned;
  return returned instanceof Response ? returned : undefined;
}
