import { CALL, type Controller } from "../controller/controller.ts";
import type { Exchange } from "../controller/exchange.ts";
import type { Part } from "../controller/part.ts";
import { discard } from "../http/answer.ts";
import { HttpError } from "../http/http-error.ts";

/** Options of {@link timeout}. */
export interface TimeoutOptions {
  /** Milliseconds until an answer must be known. A stream must have begun. */
  readonly after: number;
  /** Default 503. */
  readonly status?: number;
  /** Another time for a request, or undefined for the usual one. 0: no limit. */
  readonly for?: (exchange: Exchange) => number | undefined;
}

/**
 * Answers 503 to a request that takes too long, and aborts its `this.signal`.
 * @example
 * ```ts
 * import { Application } from "@tollway/waymark";
 * import { timeout } from "@tollway/waymark/kit";
 *
 * export const application = new Application({ use: [timeout({ after: 30_000 })] });
 * ```
 */
export function timeout({ after, status = 503, for: own }: TimeoutOptions): Part {
  checkTime(after);
  return {
    around(exchange, next) {
      const time = own?.(exchange) ?? after;
      const answer = next();
      if (!(answer instanceof Promise) || time === 0) return answer;
      checkTime(time);
      return new Promise((resolve, reject) => {
        let isLate = false;
        const timer = setTimeout(() => {
          isLate = true;
          const error = new HttpError(status, `the request took longer than ${time} ms`);
          exchange.controller?.[CALL].abort(new DOMException(error.message, "TimeoutError"));
          reject(error);
        }, time);
        void answer.then((settled) => {
          clearTimeout(timer);
          if (isLate) discard(settled.body);
          else resolve(settled);
        });
      });
    },
  };
}

/**
 * The result of work that must end in time, such as a query. Its signal aborts after that time, and when the client goes
 * away. Throws a 504 if the time is over.
 * @example
 * ```ts
 * import { Controller } from "@tollway/waymark";
 * import { within } from "@tollway/waymark/kit";
 *
 * export class Report extends Controller {
 *   GET() { return within(this, 500, (signal) => fetch("http://reports.internal/", { signal })); }
 * }
 * ```
 */
export async function within<T>(
  controller: Controller,
  time: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  checkTime(time);
  const late = new AbortController();
  const signal = AbortSignal.any([controller.signal, late.signal]);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new HttpError(504, `a step of the request took longer than ${time} ms`));
      late.abort(new DOMException(`took longer than ${time} ms`, "TimeoutError"));
    }, time);
  });
  try {
    return await Promise.race([work(signal), limit]);
  } finally {
    clearTimeout(timer);
  }
}

function checkTime(time: number): void {
  if (!(Number.isFinite(time) && time > 0 && time < 2 ** 31))
    throw new TypeError(`a timeout must be a number of milliseconds above 0, not ${time}`);
}
