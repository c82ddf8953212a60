import { fetchAdapter } from "../fetch-adapter.ts";
import { stopServer, type WebApplication, type WebServer, type WebServerOptions } from "../web-server.ts";

/** The part of Bun's interface that is used here. */
interface BunServer {
  readonly hostname: string;
  readonly port: number;
  requestIP(request: Request): { readonly address: string } | null;
  /** Sets the idle timeout of one request. 0: none. */
  timeout(request: Request, seconds: number): void;
  stop(closesConnections?: boolean): Promise<void>;
}

interface BunRuntime {
  serve(options: {
    hostname: string;
    port: number;
    /** The idle timeout in seconds. */
    idleTimeout: number;
    fetch(request: Request): Promise<Response>;
  }): BunServer;
}

/** Bun's own maximum. */
const LONGEST_IDLE = 255;

/**
 * Serves an application with `Bun.serve`. Resolves once it listens.
 * @example
 * ```ts
 * import { Application } from "@tollway/waymark";
 * import { main, serve } from "@tollway/waymark/bun";
 *
 * const application = new Application({ controllers: {} });
 * await main((address) => serve(application, address));
 * ```
 */
export async function serve(
  application: WebApplication,
  { hostname = "localhost", port = 8000 }: WebServerOptions = {},
): Promise<WebServer> {
  const { Bun } = globalThis as unknown as { Bun?: BunRuntime };
  if (Bun === undefined) throw new TypeError("@tollway/waymark/bun runs only on Bun");
  await application.ready();
  const { keepAliveTimeout = 65_000 } = application.options.server ?? {};
  const server = Bun.serve({
    hostname,
    port,
    idleTimeout: Math.min(Math.ceil(keepAliveTimeout / 1000), LONGEST_IDLE),
    async fetch(request) {
      const remoteAddress = server.requestIP(request)?.address;
      const response = await fetchAdapter(application, request, { remoteAddress, headWaits: true });
      // An event stream may be silent for any time.
      if (response.headers.get("content-type")?.startsWith("text/event-stream")) server.timeout(request, 0);
      return response;
    },
  });
  return {
    hostname,
    port: server.port,
    stop: () =>
      stopServer(application, { drained: () => server.stop(), close: () => void server.stop(true) }),
  };
}
