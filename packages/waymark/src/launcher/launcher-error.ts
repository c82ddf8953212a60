import { BuildError } from "../build/build-error.ts";
import { StartError } from "../routing/start-error.ts";
import { SignatureError } from "../signature/model/signature-error.ts";

/** An error of the command line or of startup, shown in one line without a stack. */
export class LauncherError extends Error {
  override readonly name = "LauncherError";
  readonly code = "LAUNCHER";
  /** 2 for an invalid command line, else 1. */
  readonly exitStatus: 1 | 2;

  constructor(message: string, exitStatus: 1 | 2 = 1) {
    super(message);
    this.exitStatus = exitStatus;
  }
}

/**
 * The message for an error that prevents startup. Includes the stack of an unexpected error, and of any error with
 * `--debug`.
 */
export function faultText(error: unknown, debug: boolean): string {
  if (!(error instanceof Error)) return `waymark: ${String(error)}`;
  const expected =
    error instanceof LauncherError ||
    error instanceof StartError ||
    error instanceof SignatureError ||
    error instanceof BuildError;
  const text = expected && !debug ? error.message : (error.stack ?? error.message);
  const cause =
    error instanceof StartError && debug && error.cause instanceof Error ? `\n${error.cause.stack}` : "";
  return `waymark: ${text}${cause}`;
}

export function exitStatusOf(error: unknown): number {
  return error instanceof LauncherError ? error.exitStatus : 1;
}
