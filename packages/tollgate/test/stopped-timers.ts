/**
 * Stops the timers of a Tollgate. Later events need neither a timer nor a poll: they take as long as their messages.
 *
 * A process loads this module first. While the file that `TIMERS_STOPPED` names exists, no timer of its code ends, in any
 * of its threads.
 */
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import timers from "node:timers";
import promises from "node:timers/promises";

/** The environment of a process whose timers a test can stop, and how. */
export class Stoppable {
  readonly #file = join(tmpdir(), `tollgate-timers-${process.pid}-${performance.now()}`);

  get env(): Readonly<Record<string, string>> {
    return { NODE_OPTIONS: `--import=${import.meta.url}`, TIMERS_STOPPED: this.#file };
  }

  async whileStopped<Value>(body: () => Promise<Value>): Promise<Value> {
    await writeFile(this.#file, "");
    try {
      return await body();
    } finally {
      await rm(this.#file);
    }
  }
}

const file = process.env.TIMERS_STOPPED;
if (file !== undefined) {
  const { setTimeout, setInterval } = timers;
  const wait = promises.setTimeout;
  const isStopped = () => existsSync(file);
  const patch: Partial<typeof timers> = {
    setTimeout: ((body: (...args: unknown[]) => void, delay?: number, ...args: unknown[]) => {
      const timer = setTimeout(() => {
        if (isStopped()) timer.refresh();
        else body(...args);
      }, delay);
      return timer;
    }) as typeof setTimeout,
    setInterval: ((body: (...args: unknown[]) => void, delay?: number, ...args: unknown[]) =>
      setInterval(() => {
        if (!isStopped()) body(...args);
      }, delay)) as typeof setInterval,
  };
  Object.assign(timers, patch);
  Object.assign(globalThis, patch);
  Object.assign(promises, {
    async setTimeout(delay?: number, value?: unknown, options?: Parameters<typeof wait>[2]) {
      do await wait(delay, undefined, options);
      while (isStopped());
      return value;
    },
  });
  syncBuiltinESMExports();
}
