import type { EventLoopUtilization } from "node:perf_hooks";
import { Worker } from "node:worker_threads";
import type { EmbeddedStoreShare } from "../../counters/embedded/embedded-store.ts";
import { THREAD } from "../../installation.ts";
import type { FromThread, ThreadStart, ToThread } from "./thread-messages.ts";

/** One thread, for the dashboard. */
export interface ThreadState {
  readonly name: string;
  /** 0 to 1: how busy its event loop was since the last look. */
  readonly utilization: number;
  readonly connections?: number;
}

type Report = (fault: string | undefined) => void;

/** A thread that serves gRPC, as the main thread sees it. */
export class PoolThread {
  readonly number: number;
  readonly worker: Worker;
  readonly share: EmbeddedStoreShare | undefined;
  drained = false;
  /** Set after its start. It answers no message before. */
  listening = false;
  /** The number of connections at the last check. */
  connections: number | undefined;
  #utilization: EventLoopUtilization | undefined;
  /** Requests that wait for an answer. They get undefined if the thread ends. */
  readonly #waiting = new Map<number, (answer: FromThread | undefined) => void>();
  /** The thread's reporter for each health component. */
  readonly #reporters = new Map<string, Report>();

  constructor(number: number, start: ThreadStart) {
    this.number = number;
    this.share = start.embedded;
    this.worker = new Worker(THREAD, { workerData: start, name: `grpc-${number}` });
  }

  state(): ThreadState {
    const { performance } = this.worker;
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.#utilization);
    this.#utilization = now;
    const { connections } = this;
    return { name: `grpc-${this.number}`, utilization, ...(connections !== undefined && { connections }) };
  }

  /** Sends a message with this number. Resolves with undefined if no answer comes in time. */
  request(number: number, message: ToThread, timeout: number): Promise<FromThread | undefined> {
    return new Promise((resolve) => {
      const done = (answer: FromThread | undefined) => {
        clearTimeout(late);
        this.#waiting.delete(number);
        resolve(answer);
      };
      const late = setTimeout(done, timeout, undefined);
      this.#waiting.set(number, done);
      this.worker.postMessage(message);
    });
  }

  /** Ends the request with this number. */
  answer(number: number, message: FromThread): void {
    this.#waiting.get(number)?.(message);
  }

  /** Passes a fault of a health component to the thread's reporter for it. */
  report(component: string, fault: string | undefined, create: () => Report): void {
    const report = this.#reporters.get(component) ?? create();
    this.#reporters.set(component, report);
    report(fault);
  }

  /** Ends all requests and takes all faults back: the thread has ended. */
  end(): void {
    for (const answer of this.#waiting.values()) answer(undefined);
    for (const report of this.#reporters.values()) report(undefined);
  }
}
