/** Plays storms against a victim, and checks its bounds during and after them. */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { scaled } from "../../../tools/time-scale.ts";
import type { Service } from "./neighbour-thread.ts";
import { play } from "./play.ts";
import type { Session } from "./session.ts";
import { Victim } from "./victim.ts";
import type { Measure } from "./victim-process.ts";

const MiB = 1024 * 1024;

/** The bounds. */
export const bounds = {
  /** Duration of a neighbour's call, on the reference machine. */
  neighbourMs: scaled(250),
  /** Heap and buffers above those of the idle service, after a garbage collection: the sum of the bounds of its tables. */
  heldBytes: 256 * MiB,
  /** Peak resident memory above that of the idle service. */
  residentBytes: 320 * MiB,
} as const;

/** Milliseconds for the service to release connections, timers and queues after the clients have disconnected. */
const SETTLE_MS = scaled(15_000);

export interface Figures {
  readonly storms: number;
  readonly sessions: number;
  readonly neighbourCalls: number;
  readonly worstNeighbourMs: number;
  readonly heldBytes: number;
  readonly residentBytes: number;
}

export class Storms implements AsyncDisposable {
  readonly #victim: Victim;
  readonly #neighbour: Worker;
  readonly #idle: Measure;
  #storms = 0;
  #sessions = 0;
  #neighbourCalls = 0;
  #worstNeighbourMs = 0;

  private constructor(victim: Victim, neighbour: Worker, idle: Measure) {
    this.#victim = victim;
    this.#neighbour = neighbour;
    this.#idle = idle;
  }

  static async start(): Promise<Storms> {
    const victim = await Victim.start();
    const neighbour = new Worker(new URL("./neighbour-thread.ts", import.meta.url), {
      workerData: victim.grpc,
    });
    const first = new Storms(victim, neighbour, await victim.measure());
    // The neighbour's first calls allocate the memory that every service in use holds.
    while (first.#neighbourCalls < 100) {
      await first.#askNeighbour();
      await sleep(10);
    }
    return new Storms(victim, neighbour, await victim.measure());
  }

  /** Plays sessions at once. Rejects with all violations. */
  async play(sessions: readonly Session[]): Promise<void> {
    const faults = (await Promise.all(sessions.map((session) => play(session, this.#victim)))).flat();
    this.#storms++;
    this.#sessions += sessions.length;
    faults.push(...(await this.#neighbourFaults()));
    if (this.#victim.complaints !== "") faults.push(`the service wrote: ${this.#victim.complaints}`);
    if (faults.length > 0) throw new Error(faults.join("\n"));
  }

  /** Waits until every client has disconnected, then compares with the idle service. Rejects if something is left. */
  async checkLeftovers(): Promise<void> {
    const latest = performance.now() + SETTLE_MS;
    const { peakResidentBytes } = await this.#victim.measure();
    const mostResident = this.#idle.peakResidentBytes + bounds.residentBytes;
    // A peak does not fall, so there is no need to wait.
    if (peakResidentBytes > mostResident)
      throw new Error(`${peakResidentBytes} bytes were resident; ${mostResident} are allowed`);
    let left = this.#leftovers(await this.#victim.measure());
    while (left.length > 0 && performance.now() < latest) {
      await sleep(100);
      left = this.#leftovers(await this.#victim.measure());
    }
    if (left.length > 0) throw new Error(`after the storms: ${left.join("; ")}`);
  }

  async figures(): Promise<Figures> {
    const { heldBytes, peakResidentBytes } = await this.#victim.measure();
    return {
      storms: this.#storms,
      sessions: this.#sessions,
      neighbourCalls: this.#neighbourCalls,
      worstNeighbourMs: this.#worstNeighbourMs,
      heldBytes: heldBytes - this.#idle.heldBytes,
      residentBytes: peakResidentBytes - this.#idle.peakResidentBytes,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#neighbour.terminate();
    await this.#victim[Symbol.asyncDispose]();
  }

  async #askNeighbour(): Promise<Service> {
    this.#neighbour.postMessage("report");
    const [service] = (await once(this.#neighbour, "message")) as [Service];
    this.#neighbourCalls += service.calls;
    return service;
  }

  async #neighbourFaults(): Promise<string[]> {
    const { worstMs, fault } = await this.#askNeighbour();
    this.#worstNeighbourMs = Math.max(this.#worstNeighbourMs, worstMs);
    if (fault !== undefined) return [fault];
    return worstMs <= bounds.neighbourMs
      ? []
      : [`the neighbour waited ${worstMs.toFixed(0)} ms; ${bounds.neighbourMs} ms are allowed`];
  }

  #leftovers(now: Measure): string[] {
    const idle = this.#idle;
    const left: string[] = [];
    function compare(what: string, found: number, most: number) {
      if (found > most) left.push(`${what}: ${found}, ${most} allowed`);
    }
    // The idle service has the neighbour's connection and possibly its call.
    compare("connections", now.counts.connections, idle.counts.connections);
    compare("active calls", now.counts.activeCalls, 1);
    compare("buffered bytes", now.counts.bufferedBytes, 1024);
    compare("queued bytes", now.counts.queuedBytes, 1024);
    compare("descriptors", now.descriptors, idle.descriptors);
    for (const [kind, count] of Object.entries(now.resources))
      compare(`active ${kind}`, count, idle.resources[kind] ?? 0);
    compare("held bytes", now.heldBytes, idle.heldBytes + bounds.heldBytes);
    return left;
  }
}
