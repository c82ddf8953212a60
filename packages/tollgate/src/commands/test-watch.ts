import { watch } from "node:fs";
import { DirectoryWatches } from "../watching/directory-watches.ts";
import { UsageError } from "./flags.ts";
import type { CommandIo } from "./io.ts";

/** One run of all test files. */
export interface TestRun {
  readonly status: number;
  /** The directories whose files decide the results. */
  readonly directories: ReadonlySet<string>;
}

/** Milliseconds without a change before the tests run again. Editors write a file in several steps. */
const SETTLE = 100;

/**
 * Runs tests now and after each change of a file beside them, until the signal or the end of the process.
 * @returns the status of the last run
 * @throws {UsageError} if the first run cannot read the files
 */
export async function watchTests(
  run: () => Promise<TestRun>,
  io: CommandIo,
  signal: AbortSignal = new AbortController().signal,
): Promise<number> {
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  let changed = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  const watches = new DirectoryWatches({
    onEvent: () => {
      clearTimeout(timer);
      timer = setTimeout(() => changed.resolve(), SETTLE);
    },
    watch,
    persistent: true,
  });
  let last = await run();
  try {
    for (;;) {
      for (const fault of watches.update(last.directories)) io.stderr.write(`tollgate test: ${fault}\n`);
      io.stderr.write("Watching for changes. Ctrl-C ends.\n");
      await Promise.race([changed.promise, aborted]);
      if (signal.aborted) return last.status;
      // A change from now on needs a further run, because this one may have read the file already.
      changed = Promise.withResolvers();
      last = await runAgain(run, last, io);
    }
  } finally {
    clearTimeout(timer);
    watches.close();
  }
}

/** A file may be missing for a moment while an editor replaces it. */
async function runAgain(run: () => Promise<TestRun>, last: TestRun, io: CommandIo): Promise<TestRun> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    io.stderr.write(`tollgate test: ${error.message}\n`);
    return { ...last, status: 2 };
  }
}
