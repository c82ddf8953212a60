/** The streams and the environment of a command. Tests pass their own. */
export interface CommandIo {
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean | undefined };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean | undefined };
  /** Standard input, for commands that read it. */
  readonly stdin?: AsyncIterable<Uint8Array | string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** The streams and the environment of this process. Ignores write errors, as in `tollgate check rules | head -1`. */
export function processIo(): CommandIo {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
  };
}
