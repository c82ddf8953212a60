import { StartError } from "../routing/errors.ts";
import { SignatureError } from "../signature/errors.ts";
import { LauncherError } from "./errors.ts";

/** One clear message for what ends the start; the stack only for what nobody foresaw, or when it is asked for. */
export function faultText(error: unknown, debug: boolean): string {
  if (!(error instanceof Error)) return `waymark: ${String(error)}`;
  const expected =
    error instanceof LauncherError || error instanceof StartError || error instanceof SignatureError;
  const text = expected && !debug ? error.message : (error.stack ?? error.message);
  const cause =
    error instanceof StartError && debug && error.cause instanceof Error ? `\n${error.cause.stack}` : "";
  return `waymark: ${text}${cause}`;
}

export function exitStatusOf(error: unknown): number {
  return error instanceof LauncherError ? error.exitStatus : 1;
}
