import { Socket } from "node:net";
import { workerData } from "node:worker_threads";

/**
 * The thread that ends this process when the Python process that it serves is gone, even where the main thread never
 * comes back from a handler.
 */
export interface WatchdogData {
  /** A socket pair whose other end only that Python process holds. */
  readonly lifeline: number;
  /** Set to 1 by the main thread once it is stopping of its own accord. */
  readonly stopping: Int32Array;
  readonly patience: { readonly busy: number; readonly stopping: number };
}

const { lifeline, stopping, patience } = workerData as WatchdogData;

const kill = () => process.kill(process.pid, "SIGKILL");

const socket = new Socket({ fd: lifeline });
socket.on("error", () => undefined);
socket.on("close", () => {
  setTimeout(() => {
    if (Atomics.load(stopping, 0) === 0) kill();
    else setTimeout(kill, patience.stopping);
  }, patience.busy);
});
socket.resume();
