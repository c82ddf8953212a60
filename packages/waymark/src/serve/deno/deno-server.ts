import { fetchAdapter } from "../fetch-adapter.ts";
import { stopServer, type WebApplication, type WebServer, type WebServerOptions } from "../web-server.ts";

/** The part of Deno's interface that is used here. */
interface DenoRuntime {
  serve(
    options: {
      hostname: string;
      port: number;
      signal: AbortSignal;
      onListen(address: { readonly port: number }): void;
    },
    handler: (
      request: Request,
      info: {
        readonly remoteAddr: { readonly hostname?: string };
        /** Rejects if the client goes away before it has the whole answer. */
        readonly completed: Promise<void>;
      },
    ) => Promise<Response>,
  ): DenoServer;
}

interface DenoServer {
  readonly addr: { readonly port: number };
  readonly finished: Promise<void>;
  shutdown(): Promise<void>;
}

/**
 * Serves an application with `Deno.serve`. Resolves once it listens.
 * @example
 * ```ts
 * import { Application } from "@tollway/waymark";
 * import { main, serve } from "@tollway/waymark/deno";
 *
 * const application = new Application({ controllers: {} });
 * await main((address) => serve(application, address));
 * ```
 */
export async function serve(
  application: WebApplication,
  { hostname = "localhost", port = 8000 }: WebServerOptions = {},
): Promise<WebServer> {
  const { Deno } = globalThis as unknown as { Deno?: DenoRuntime };
  if (Deno === undefined) throw new TypeError("@tollway/waymark/deno runs only on Deno");
  await application.ready();
  const ending = new AbortController();
  const server = Deno.serve(
    // Without it, Deno prints the address itself.
    { hostname, port, signal: ending.signal, onListen: () => undefined },
    (request, { remoteAddr, completed }) => {
      const left = new AbortController();
      // The signal of Deno's Request also aborts when an answer is complete.
      completed.catch((reason: unknown) => left.abort(reason));
      return fetchAdapter(application, request, { remoteAddress: remoteAddr.hostname, signal: left.signal });
    },
  );
  return {
    hostname,
    port: server.addr.port,
    stop: () => stopServer(application, { drained: () => server.shutdown(), close: () => ending.abort() }),
  };
}
