import { shownAddress } from "./shown-address.ts";

/** A server that `main` started. */
interface Running {
  readonly port: number;
  stop(): Promise<void>;
}

/** What a runnable file needs of its runtime. Node, Bun and Deno all have this part of `process`. */
interface Runtime {
  readonly env: Readonly<Record<string, string | undefined>>;
  on(signal: "SIGTERM" | "SIGINT", listener: () => void): unknown;
  exit(status: number): never;
}

type Start = (address: { readonly hostname: string; readonly port: number }) => Promise<Running>;

/**
 * Runs a server as a program: on `HOST` and `PORT` of the environment, until a signal arrives. A second signal ends it
 * at once.
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
