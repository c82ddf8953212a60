import { shownAddress } from "./shown-address.ts";

/** A server that `main` started. */
export interface Running {
  /** The port that it listens on. */
  readonly port: number;
  /** Finishes the answers in progress, and ends the server. */
  stop(): Promise<void>;
}

/** The part of `process` that a runnable file needs. Node, Bun and Deno have it. */
interface Runtime {
  readonly env: Readonly<Record<string, string | undefined>>;
  on(signal: "SIGTERM" | "SIGINT", listener: () => void): unknown;
  exit(status: number): never;
}

/** Starts a server at an address. */
export type Start = (address: { readonly hostname: string; readonly port: number }) => Promise<Running>;

/**
 * Runs a server as a program: on `HOST` and `PORT` of the environment, until a signal arrives. A second signal ends it
 * at once.
 * @example
 * ```ts
 * import { Application } from "@tollway/waymark";
 * import { main, startServer } from "@tollway/waymark/server";
 *
 * const application = new Application({ controllerPrefix: "controllers" });
 * await main(({ hostname, port }) => startServer(application, { host: hostname, port }));
 * ```
 */
export async function main(start: Start): Promise<void> {
  const { process } = globalThis as unknown as { process: Runtime };
  const { HOST: hostname = "localhost", PORT: text = "8000" } = process.env;
  const port = Number(text);
  try {
    if (!/^\d+$/.test(text) || port > 65_535)
      throw new RangeError(`PORT=${text} must be a number from 0 to 65535`);
    let isStopping = false;
    const running = await start({ hostname, port });
    const onSignal = () => {
      if (isStopping) process.exit(130);
      isStopping = true;
      running.stop().then(
        () => process.exit(0),
        (error: unknown) => {
          console.error(error);
          process.exit(1);
        },
      );
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
    console.log(`Waymark serves ${shownAddress(hostname, running.port)}`);
  } catch (error) {
    console.error(`waymark: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  }
}
