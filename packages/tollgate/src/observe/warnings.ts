import type { Logger } from "./log.ts";

/** Lets what the run time warns of appear in the log, in its format, instead of beside it. For each thread by itself. */
export function logWarnings(log: Logger): void {
  process.removeAllListeners("warning");
  process.on("warning", ({ name, message }) => log.warn(`Node: ${name}: ${message}`));
}
