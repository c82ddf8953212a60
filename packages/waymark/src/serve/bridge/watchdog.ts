import { Socket } from "node:net";
import { workerData } from "node:worker_threads";

/** A thread that ends this process when the Python process has gone, even if a handler blocks the main thread. */
export interface WatchdogData {
  /** A socket pair whose other end only the Python process holds. */
  readonly lifeline: number;
  /** The main thread sets it to 1 when it stops by itself. */
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
