import { type EventLoopUtilization, monitorEventLoopDelay, performance } from "node:perf_hooks";
import type { ProcessState, ThreadState } from "./messages.ts";

/** Interval of the measurement of lag, in milliseconds. */
const RESOLUTION = 10;

/** Measures this process, while somebody watches. */
export class ProcessWatch {
  readonly #version: string;
  readonly #threads: () => readonly ThreadState[];
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION });
  #before: EventLoopUtilization = performance.eventLoopUtilization();
  #isOn = false;

  constructor(version: string, threads: () => readonly ThreadState[]) {
    this.#version = version;
    this.#threads = threads;
  }

  turn(isOn: boolean): void {
    if (isOn === this.#isOn) return;
    this.#isOn = isOn;
    if (isOn) {
      this.#delay.reset();
      this.#delay.enable();
      this.#before = performance.eventLoopUtilization();
    } else this.#delay.disable();
  }

  /** The state since the last call. */
  read(): ProcessState {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.#before);
    this.#before = now;
    const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
    const { count } = this.#delay;
    const state = {
      version: this.#version,
      uptimeSeconds: Math.floor(process.uptime()),
      threads: [{ name: "main", utilization }, ...this.#threads()],
      lagP99Ms: count === 0 ? 0 : late(this.#delay.percentile(99)),
      lagMaxMs: count === 0 ? 0 : late(this.#delay.max),
      rss,
      heapUsed,
      heapTotal,
      external,
    };
    this.#delay.reset();
    return state;
  }
}

/** The histogram holds whole intervals between ticks, in nanoseconds. The lag is the part above the resolution. */
function late(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e6 - RESOLUTION);
}
