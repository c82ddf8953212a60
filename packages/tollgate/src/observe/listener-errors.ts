import type { EventEmitter } from "node:events";
import type { Logger } from "./log.ts";
import { Throttle, withCount } from "./throttle.ts";

/**
 * Logs the errors of a listening server for its whole life, at most one line a minute. A server emits an error for
 * each connection that it cannot accept (too many open files, no memory) and goes on; without a listener for it, that
 * error would end the process.
 * @param name for the log: `HTTP`, `metrics`
 */
export function logListenerErrors(server: EventEmitter, name: string, log: Logger): void {
  const throttle = new Throttle();
  server.on("error", (error: Error) => {
    const count = throttle.hit();
    if (count !== undefined) log.error(withCount(`${name} listener: ${error.message}`, count));
  });
}
