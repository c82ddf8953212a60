import { fetchAdapter } from "../fetch-adapter.ts";
import type { Lifecycle, RequestHandler } from "../handler.ts";

/** The context that a worker gets with a request. */
export interface WorkerContext {
  /** Keeps the request's promises alive after its client has left. */
  waitUntil(promise: Promise<unknown>): void;
}

/** The module of a worker: `export default worker(application)`. */
export interface Worker {
  /** Answers one request. */
  fetch(request: Request, env?: unknown, context?: WorkerContext): Promise<Response>;
}

/** Where `waymark build` finds the application of a module, to check it. */
export const APPLICATION: unique symbol = Symbol.for("@tollway/waymark.application");

/**
 * Serves an application as a Cloudflare worker. It starts with the first request: a worker may not wait before it.
 * @example
 * ```ts
 * import { Application } from "@tollway/waymark";
 * import { worker } from "@tollway/waymark/worker";
 *
 * export default worker(new Application({ controllers: {} }));
 * ```
 */
export function worker(application: RequestHandler & Pick<Lifecycle, "ready">): Worker {
  let hasBegun = false;
  const made: Worker = {
    fetch(request, _env, context) {
      if (!hasBegun) {
        hasBegun = true;
        // Without this, a start never ends if the client of the first request leaves, and every later request waits.
        const started = application.ready().catch(() => {
          hasBegun = false;
        });
        context?.waitUntil(started);
      }
      // Only Cloudflare's servers set the header: they remove a caller's own.
      const remoteAddress = request.headers.get("cf-connecting-ip") ?? undefined;
      return fetchAdapter(application, request, { remoteAddress });
    },
  };
  return Object.defineProperty(made, APPLICATION, { value: application });
}
