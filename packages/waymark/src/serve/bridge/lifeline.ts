import { Worker } from "node:worker_threads";
import type { WatchdogData } from "./watchdog.ts";

/** How long after Python's end the main thread may take to notice, and then to stop, in milliseconds. */
const PATIENCE = { busy: 500, stopping: 10_000 };

/** Ties this process to the life of whoever holds the other end of a socket pair. */
export class Lifeline {
  readonly #stopping = new Int32Array(new SharedArrayBuffer(4));

  constructor(descriptor: number) {
    const workerData: WatchdogData = { lifeline: descriptor, stopping: this.#stopping, patience: PATIENCE };
    // Built files keep the name of the source, but for its end.
    const file = new URL(
      import.meta.url.endsWith(".ts") ? "./watchdog.ts" : "./watchdog.js",
      import.meta.url,
    );
    const worker = new Worker(file, {
      workerData,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 16 },
    });
    worker.on("error", (error) => console.error("waymark: the watchdog has failed:", error));
    worker.unref();
  }

  /** The main thread is stopping, and so need not be ended by force at once. */
  stopping(): void {
    Atomics.store(this.#stopping, 0, 1);
  }
}
