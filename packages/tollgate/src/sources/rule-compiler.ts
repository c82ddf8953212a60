import { totalmem } from "node:os";
import { Worker } from "node:worker_threads";
import type { CompileJob, JobResult } from "./compile-job.ts";
import { COMPILER_DATA } from "./compiler-data.ts";

/** Milliseconds after the last job until the thread ends. Its memory is then free. */
const IDLE_MS = 5000;

/** Mebibytes of heap that a compilation may use at most, and at least. */
const MOST_HEAP = 4096;
const LEAST_HEAP = 64;

/** A message of the thread: the result of the last job, or the reason of its failure. */
export type CompilerAnswer = { readonly result: JobResult } | { readonly failure: string };

/** A compilation failed through no fault of the rules. */
export class CompilerError extends Error {
  override readonly name = "CompilerError";
  readonly code = "COMPILER_FAILED";
}

/**
 * Reads, checks and compiles rules in a thread of its own. A reload then takes no time of the thread that decides.
 * Runs one job at a time: the caller waits for a result before it starts the next job.
 */
export class RuleCompiler {
  readonly #entry: URL;
  readonly #mostHeap: number;
  #worker: Worker | undefined;
  #fail: ((reason: string) => void) | undefined;
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  /**
   * @param entry the module of the thread
   * @param mostHeap mebibytes that the thread may use. Default: half of the memory of the process
   */
  constructor(entry: URL, mostHeap = heapLimit()) {
    this.#entry = entry;
    this.#mostHeap = mostHeap;
  }

  /** Runs a job in this thread, before there are decisions to delay. It saves the start of another thread. */
  async runHere(job: CompileJob): Promise<JobResult> {
    // Loaded on demand: a thread of its own usually has the parser.
    return (await import("./compile-job.ts")).runJob(job);
  }

  /** @throws {CompilerError} if the thread ends before it answers */
  async run(job: CompileJob): Promise<JobResult> {
    if (this.#isClosed) throw new CompilerError("the compiler is closed");
    if (this.#fail !== undefined) throw new CompilerError("another compilation is running");
    clearTimeout(this.#idle);
    this.#worker ??= this.#start();
    const worker = this.#worker;
    worker.ref();
    const { promise, resolve, reject } = Promise.withResolvers<JobResult>();
    this.#fail = (reason) => reject(new CompilerError(reason));
    const receive = (answer: CompilerAnswer): void => {
      if ("result" in answer) resolve(answer.result);
      else reject(new CompilerError(answer.failure));
    };
    worker.once("message", receive);
    try {
      worker.postMessage(job);
      return await promise;
    } finally {
      worker.off("message", receive);
      this.#fail = undefined;
      worker.unref();
      this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref();
    }
  }

  /** Ends the thread. A running job fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    this.#fail?.("the compiler is closed");
    await this.#end();
  }

  async #end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(this.#entry, {
      workerData: COMPILER_DATA,
      name: "compiler",
      // Beyond its limit the thread ends, instead of the process.
      resourceLimits: { maxOldGenerationSizeMb: this.#mostHeap },
    });
    const ended = (reason: string): void => {
      // The events of a thread that was replaced say nothing about the job of the next one.
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#fail?.(reason);
    };
    worker.on("error", (error: NodeJS.ErrnoException) =>
      ended(
        error.code === "ERR_WORKER_OUT_OF_MEMORY"
          ? `the rules need more than ${this.#mostHeap} MiB of memory to be compiled`
          : `the thread that compiles the rules failed: ${error.message}`,
      ),
    );
    worker.on("exit", () => ended("the thread that compiles the rules ended"));
    return worker;
  }
}

/** Half of the memory that this process may use, in mebibytes. */
function heapLimit(): number {
  const constrained = process.constrainedMemory();
  const available = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.round(Math.min(MOST_HEAP, Math.max(LEAST_HEAP, available / 2 ** 21)));
}
