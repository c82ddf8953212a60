import { setTimeout as delay } from "node:timers/promises";
import type { RunningTollgate } from "../test/tollgate.ts";

export type Descriptor = Readonly<Record<string, string>>;

/** Sends one call with one descriptor, and returns the status of the response. */
export async function hit(
  tollgate: RunningTollgate,
  domain: string,
  descriptor: Descriptor,
): Promise<number> {
  const entries = Object.entries(descriptor).map(([key, value]) => ({ key, value }));
  const body = JSON.stringify({ domain, descriptors: [{ entries }] });
  const response = await fetch(`http://${tollgate.http}/json`, { method: "POST", body });
  await response.arrayBuffer();
  return response.status;
}

/** Sends calls until it is stopped. */
export class Load {
  readonly #stop = new AbortController();
  readonly #over: Promise<void>;

  /** @param pause milliseconds between two rounds of calls */
  constructor(tollgate: RunningTollgate, domain: string, next: () => readonly Descriptor[], pause = 50) {
    this.#over = this.#run(tollgate, domain, next, pause);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#over;
  }

  async #run(tollgate: RunningTollgate, domain: string, next: () => readonly Descriptor[], pause: number) {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await Promise.allSettled(next().map((descriptor) => hit(tollgate, domain, descriptor)));
      await delay(pause, undefined, { signal }).catch(() => undefined);
    }
  }
}
