import type { Controller } from "../controller/controller.ts";
import { ServerSentEvent } from "../http/server-sent-event.ts";

/**
 * The same stream with a comment whenever it is silent for a time in milliseconds, so that no proxy closes it. Ends the
 * stream exactly when its user does.
 * @example
 * ```ts
 * import { Controller, ServerSentEvent } from "@tollway/waymark";
 * import { heartbeat } from "@tollway/waymark/kit";
 *
 * async function* news() { yield new ServerSentEvent({ data: "opened" }); }
 *
 * export class News extends Controller {
 *   GET() { return heartbeat(news(), 15_000); }
 * }
 * ```
 */
export function heartbeat<Item>(
  items: AsyncIterable<Item>,
  time = 15_000,
): AsyncIterable<Item | ServerSentEvent<never>> {
  if (!(Number.isFinite(time) && time > 0 && time < 2 ** 31))
    throw new TypeError(`heartbeat needs a time in milliseconds above 0, not ${time}`);
  return {
    [Symbol.asyncIterator]() {
      const iterator = items[Symbol.asyncIterator]();
      let pending: Promise<IteratorResult<Item>> | undefined;
      return {
        async next() {
          pending ??= iterator.next();
          // A user that left during a silence does not read the next item, nor its error.
          pending.catch(() => undefined);
          let timer: ReturnType<typeof setTimeout> | undefined;
          const silence = new Promise<undefined>((resolve) => {
            timer = setTimeout(resolve, time, undefined);
          });
          try {
            const step = await Promise.race([pending, silence]);
            if (step === undefined) return { done: false, value: new ServerSentEvent<never>({}) };
            pending = undefined;
            return step;
          } finally {
            clearTimeout(timer);
          }
        },
        async return() {
          await iterator.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

/**
 * The id of the last event that a reconnecting client has seen. Undefined for a new client.
 * @example
 * ```ts
 * import { Controller, ServerSentEvent } from "@tollway/waymark";
 * import { lastEventId } from "@tollway/waymark/kit";
 *
 * const news = ["opened", "closed"];
 *
 * export class News extends Controller {
 *   async *GET() {
 *     for (const [at, data] of news.entries())
 *       if (at >= Number(lastEventId(this) ?? 0)) yield new ServerSentEvent({ id: at + 1, data });
 *   }
 * }
 * ```
 */
export function lastEventId(controller: Controller): string | undefined {
  const sent = controller.headers.get("last-event-id");
  if (sent === null || sent === "") return undefined;
  // Browsers send UTF-8, and a header is a text of bytes.
  const bytes = Uint8Array.from(sent, (each) => each.charCodeAt(0));
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return sent;
  }
}
