import type { Lifecycle, RequestHandler } from "./handler.ts";
import type { ServerLimits } from "./server-limits.ts";

/** The part of an application that the servers of Bun and Deno need. */
export interface WebApplication extends RequestHandler, Lifecycle {
  /** The application's options, for its limits. */
  readonly options: { readonly server?: ServerLimits };
  /** Ends the event streams. The server calls it before it waits for its answers. */
  closeEventStreams(): void;
}

/** The address of a server on Bun or Deno. */
export interface WebServerOptions {
  /** Default `localhost`. */
  hostname?: string;
  /** Default 8000; 0 picks a free port. */
  port?: number;
}

/** A listening server of another runtime than Node. */
export interface WebServer {
  /** The host that the server listens on. */
  readonly hostname: string;
  /** The port that the server listens on. */
  readonly port: number;
  /** Accepts no more connections, waits for answers in progress, then runs the application's `onStop`. */
  stop(): Promise<void>;
}

/** How a runtime ends its server. */
interface Ending {
  /** Resolves when all answers are complete. */
  drained(): Promise<unknown>;
  /** Closes what is still open after the time for that. */
  close(): unknown;
}

/** Ends a server and its application, within the application's `drainTimeout`. */
export async function stopServer(application: WebApplication, { drained, close }: Ending): Promise<void> {
  const { drainTimeout = 10_000 } = application.options.server ?? {};
  application.closeEventStreams();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, drainTimeout, true);
  });
  const isLate = await Promise.race([drained().then(() => false), late]);
  clearTimeout(timer);
  if (isLate) await close();
  await application.stop();
}
