import { fetchAdapter } from "../fetch-adapter.ts";
import type { RequestHandler } from "../handler.ts";

/** The module of a worker: `export default worker(application)`. */
export interface Worker {
  /** Answers one request. */
  fetch(request: Request): Promise<Response>;
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
export function worker(application: RequestHandler): Worker {
  const made: Worker = {
    // Only Cloudflare's servers set the header: they remove a caller's own.
    fetch: (request) =>
      fetchAdapter(application, request, {
        remoteAddress: request.headers.get("cf-connecting-ip") ?? undefined,
      }),
  };
  return Object.defineProperty(made, APPLICATION, { value: application });
}
