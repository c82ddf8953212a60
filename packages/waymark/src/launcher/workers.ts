import cluster, { type Worker } from "node:cluster";

/** A message from a worker to its parent. */
export type WorkerMessage =
  | { readonly ready: string }
  | { readonly failed: string; readonly status: number }
  // Forwarded to the watcher of the parent.
  | { readonly files: readonly string[] };

/** A worker that ends sooner than this is restarted only after a pause. */
const SHORT_LIFE_MS = 1_000;

/**
 * Serves with several processes on one port. Replaces a worker that ends unexpectedly. Stops all workers if one
 * cannot start, because the others would fail too. Resolves with the exit status.
 */
export function serveWithWorkers(count: number, announce: (text: string) => void): Promise<number> {
  return new Promise((resolve) => {
    let ready = 0;
    let stopping = false;
    let status = 0;
    /** Timers of workers that wait to be restarted. */
    const pauses = new Set<NodeJS.Timeout>();
    const born = new Map<Worker, number>();
    const fork = () => {
      const worker = cluster.fork();
      born.set(worker, performance.now());
      worker.on("message", (message: WorkerMessage) => {
        if ("ready" in message) {
          ready++;
          // Announced once, when all workers serve.
          if (ready === count) announce(`${message.ready}${count} workers\n`);
        } else if ("files" in message) process.send?.(message);
        else if (!stopping) {
          console.error(message.failed);
          status = message.status;
          stop();
        }
      });
    };
    const stop = () => {
      stopping = true;
      for (const pause of pauses) clearTimeout(pause);
      for (const worker of born.keys()) worker.process.kill("SIGTERM");
      if (born.size === 0) resolve(status);
    };
    cluster.on("exit", (worker, code, signal) => {
      const age = performance.now() - (born.get(worker) ?? 0);
      born.delete(worker);
      if (stopping) {
        if (born.size === 0) resolve(status);
        return;
      }
      console.error(`waymark: worker ${worker.process.pid} ended (${signal ?? code}); starting another`);
      if (age > SHORT_LIFE_MS) return fork();
      const pause = setTimeout(() => {
        pauses.delete(pause);
        fork();
      }, SHORT_LIFE_MS);
      pauses.add(pause);
    });
    const onSignal = () => (stopping ? process.exit(130) : stop());
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
    for (let at = 0; at < count; at++) fork();
  });
}

/** Resolves once the message to the parent has been written. */
export function tellParent(message: WorkerMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined) resolve();
    else process.send(message, () => resolve());
  });
}
