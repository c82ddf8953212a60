import type { Logger } from "./log.ts";
import { Throttle, withCount } from "./throttle.ts";

/**
 * Returns a handler that logs the errors of a bound listener, at most one line a minute. A listener emits an error for each
 * connection that it cannot accept (too many open files, no memory). An error without a handler would end the process.
 * The messages are those of Waymark's server, which the HTTP ports use.
 * @param name for messages: `gRPC`
 */
export function listenerErrorLogger(name: string, log: Logger): (error: Error) => void {
  const throttle = new Throttle();
  return (error) => {
    const count = throttle.hit();
    const message = `${name} listener: cannot accept a connection: ${error.message}`;
    if (count !== undefined) log.error(withCount(message, count));
  };
}
