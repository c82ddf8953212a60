/** A fault of the command line or of the start: one clear line, no stack. */
export class LauncherError extends Error {
  override readonly name = "LauncherError";
  readonly code = "LAUNCHER";
  /** 2 for a command line that makes no sense, else 1. */
  readonly exitStatus: 1 | 2;

  constructor(message: string, exitStatus: 1 | 2 = 1) {
    super(message);
    this.exitStatus = exitStatus;
  }
}
