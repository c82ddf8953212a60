/** A program that runs the checks of the client against the server at CLIENT_URL, and prints the results. */
import { clientChecks } from "../test/support/client-checks.ts";

export interface Checked {
  readonly name: string;
  /** The reason for the failure. */
  readonly reason: string | undefined;
}

export async function runAll(url: string): Promise<Checked[]> {
  const results: Checked[] = [];
  for (const [name, run] of clientChecks(url)) {
    const reason = await run().then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
    );
    results.push({ name, reason });
  }
  return results;
}

const { CLIENT_URL } = process.env;
if (CLIENT_URL !== undefined) console.log(JSON.stringify(await runAll(CLIENT_URL)));
