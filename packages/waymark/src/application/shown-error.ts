import { HttpError } from "../http/http-error.ts";

/** With the option `debug`, the client sees an unexpected error with its stack. */
export function shownError(error: unknown): HttpError {
  const shown = error instanceof Error ? error : new Error(`thrown: ${String(error)}`);
  return new HttpError(500, `${shown.name}: ${shown.message}`, { stack: shown.stack?.split("\n") ?? [] });
}
