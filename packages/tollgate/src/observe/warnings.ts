import type { Logger } from "./log.ts";

/** Writes Node's warnings to the log, in the log's format, instead of to standard error. Each thread calls it for itself. */
export function logWarnings(log: Logger): void {
  process.removeAllListeners("warning");
  process.on("warning", ({ name, message }) => log.warn(`Node: ${name}: ${message}`));
}
