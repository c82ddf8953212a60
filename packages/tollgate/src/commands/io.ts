/** What a command touches of the world outside, handed over so that tests can watch it. */
export interface CommandIo {
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean | undefined };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean | undefined };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** The real world. A reader that has gone (`tollgate check rules | head -1`) is no reason for a stack trace. */
export function processIo(): CommandIo {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  return { stdout: process.stdout, stderr: process.stderr, env: process.env, cwd: process.cwd() };
}
