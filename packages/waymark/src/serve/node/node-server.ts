import type { AsgiApplication } from "../asgi/asgi-types.ts";
import type { Lifecycle, RequestHandler } from "../handler.ts";
import type { ServerLimits } from "../server-limits.ts";
import type { WsgiApplication } from "../wsgi/wsgi-types.ts";
import { type HttpServerOptions, openServer, type RunningServer } from "./http-server.ts";
import { type NodeAdapterOptions, type NodeListener, nodeListener } from "./node-adapter.ts";

/** The part of an application that the server needs. */
export interface ServedApplication extends RequestHandler, Lifecycle {
  /** The application's options, for its limits. */
  readonly options: { readonly server?: ServerLimits };
  /** The application as ASGI 3. */
  readonly asgi: AsgiApplication;
  /** The application as PEP 3333, as far as JavaScript allows. */
  readonly wsgi: WsgiApplication;
  /** Runs the hook before the drain. Undefined if there is none. Never rejects. */
  drain(): Promise<void> | undefined;
  /** Ends the event streams. The server calls it before it waits for its answers. */
  closeEventStreams(): void;
}

/** The address to listen on. Missing limits come from the application's option `server`. */
export interface ServerOptions extends HttpServerOptions {
  /** Creates the request listener. Default: `nodeListener`, the adapter for `node:http`. */
  listener?: (application: ServedApplication, options: NodeAdapterOptions) => NodeListener;
}

/**
 * Serves an application on `node:http`, or on `node:https` with the option `tls`. Resolves once it listens.
 * @example
 * ```ts
 * import { Application } from "@tollway/waymark";
 * import { startServer } from "@tollway/waymark/server";
 *
 * const application = new Application({ controllerPrefix: "controllers" });
 * const running = await startServer(application, { host: "localhost", port: 8000 });
 * console.log(running.port);
 * await running.stop();
 * ```
 */
export async function startServer(
  application: ServedApplication,
  options: ServerOptions,
): Promise<RunningServer> {
  await application.ready();
  const { listener = nodeListener, ...own } = options;
  const given: HttpServerOptions = { ...application.options.server, ...own };
  const { sendTimeout = 60_000 } = given;
  const running = await openServer(
    {
      onRequest: listener(application, { sendTimeout }),
      onContinue: listener(application, { sendTimeout, expectsContinue: true }),
      // Another listener may wait for the end of a body that does not exist.
      skipsEmptyBodies: listener === nodeListener,
    },
    given,
  );
  return {
    ...running,
    async stop(drainTimeout = given.drainTimeout ?? 10_000) {
      const hook = application.drain();
      if (hook !== undefined) await atMost(drainTimeout, hook);
      running.drain();
      application.closeEventStreams();
      await running.stop(drainTimeout);
      await application.stop();
    },
  };
}

/** A hook that never ends must not keep the server from stopping. */
async function atMost(time: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, time);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
