/** Shortest time between two log lines of such an error. Without free descriptors every connection causes one. */
const INTERVAL_MS = 60_000;

/**
 * A listener for the errors of a listening server. Logs the first at once, then at most one line per minute.
 * @param log default: standard error
 * @param now monotonic milliseconds
 */
export function acceptFaultLog(
  log = (message: string): void => console.error(`waymark: ${message}`),
  now = (): number => performance.now(),
): (error: Error) => void {
  let quietUntil = Number.NEGATIVE_INFINITY;
  let count = 0;
  return (error) => {
    count++;
    const time = now();
    if (time < quietUntil) return;
    quietUntil = time + INTERVAL_MS;
    const times = count === 1 ? "" : ` (${count} times since the last such line)`;
    count = 0;
    log(`cannot accept a connection: ${error.message}${times}`);
  };
}
