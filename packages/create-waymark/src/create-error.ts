/** An error of the command line, shown in one line without a stack. */
export class CreateError extends Error {
  override readonly name = "CreateError";
  readonly code = "CREATE";
}
