import { Worker } from "node:worker_threads";
import type { WatchdogData } from "./watchdog.ts";

/** Milliseconds for the main thread to notice the end of Python, and to stop. */
const PATIENCE = { busy: 500, stopping: 10_000 };

/** Ends this process when the process at the other end of a socket pair ends. */
export class Lifeline {
  readonly #stopping = new Int32Array(new SharedArrayBuffer(4));

  constructor(descriptor: number) {
    const workerData: WatchdogData = { lifeline: descriptor, stopping: this.#stopping, patience: PATIENCE };
    // A built file has the name of its source with another extension.
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

  /** Tells the watchdog that the main thread is stopping, so that it waits longer. */
  stopping(): void {
    Atomics.store(this.#stopping, 0, 1);
  }
}
