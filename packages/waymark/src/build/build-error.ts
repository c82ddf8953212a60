export type BuildErrorCode = "BUNDLER_MISSING" | "NOT_BUNDLED" | "NOT_PORTABLE" | "MODULE_FAILED";

/** A bundle that cannot be built, or that would fail where it is deployed. The message says where and what to change. */
export class BuildError extends Error {
  override readonly name = "BuildError";
  readonly code: BuildErrorCode;

  constructor(code: BuildErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
