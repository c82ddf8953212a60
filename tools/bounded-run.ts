/** Runs test files in groups, so that a run can end between two groups, and so that a group can run again. */

export interface BoundedRunOptions {
  /** Runs test files. @returns an exit status; 0 if all tests pass */
  readonly run: (files: readonly string[]) => Promise<number>;
  /** Monotonic milliseconds after which no further group starts. The first group always starts. */
  readonly budgetMs: number;
  /** Runs a group that failed once more. A group that fails twice ends the run. */
  readonly retry: boolean;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** Files in a group. Default 4. */
  readonly groupSize?: number;
}

export interface BoundedRun {
  /** The status of the group that ended the run, or 0. */
  readonly status: number;
  /** Groups that failed, and passed when they ran again. */
  readonly repeated: readonly (readonly string[])[];
  /** Files that did not run. */
  readonly left: readonly string[];
}

export async function boundedRun(files: readonly string[], options: BoundedRunOptions): Promise<BoundedRun> {
  const { run, budgetMs, retry, now = () => performance.now(), groupSize = 4 } = options;
  const latest = now() + budgetMs;
  const repeated: (readonly string[])[] = [];
  for (let at = 0; at < files.length; at += groupSize) {
    if (at > 0 && now() >= latest) return { status: 0, repeated, left: files.slice(at) };
    const group = files.slice(at, at + groupSize);
    let status = await run(group);
    if (status !== 0 && retry) {
      status = await run(group);
      if (status === 0) repeated.push(group);
    }
    if (status !== 0) return { status, repeated, left: files.slice(at + groupSize) };
  }
  return { status: 0, repeated, left: [] };
}

/** Rotates a list by the day, so that a run which never reaches its end still reaches each file on some day. */
export function rotated(files: readonly string[], date: Date): readonly string[] {
  const days = Math.floor(date.getTime() / 86_400_000);
  // The golden ratio spreads the starts of following days over the list.
  const start = Math.floor(((days * 0.618_033_988_75) % 1) * files.length);
  return [...files.slice(start), ...files.slice(0, start)];
}
