import { type FSWatcher, statSync, type watch } from "node:fs";

interface Watched {
  readonly watcher: FSWatcher;
  /** Which directory it was when the watch began: another one may stand at its path since. */
  readonly identity: string;
}

/**
 * Watches on some directories (inotify on Linux), of which there are as many as a path has names. A watch follows
 * the directory, not its path: what was replaced is watched anew at the next {@link update}.
 */
export class DirectoryWatches {
  readonly #watched = new Map<string, Watched>();
  readonly #onEvent: (directory: string, name: string | null) => void;
  readonly #watch: typeof watch;

  /** @param onEvent something was written, created, renamed, removed or had its mode changed; the name may be unknown */
  constructor(onEvent: (directory: string, name: string | null) => void, watchDirectory: typeof watch) {
    this.#onEvent = onEvent;
    this.#watch = watchDirectory;
  }

  /**
   * Watches exactly these directories.
   * @returns the messages of those that cannot be watched
   */
  update(directories: ReadonlySet<string>): string[] {
    for (const [directory, { identity }] of this.#watched)
      if (!directories.has(directory) || identity !== identityOf(directory)) this.#close(directory);
    const faults: string[] = [];
    for (const directory of directories) {
      if (this.#watched.has(directory)) continue;
      try {
        this.#open(directory);
      } catch (error) {
        faults.push((error as Error).message);
      }
    }
    return faults;
  }

  close(): void {
    for (const directory of [...this.#watched.keys()]) this.#close(directory);
  }

  #open(directory: string): void {
    const identity = identityOf(directory);
    const watcher = this.#watch(directory, (_event, name) => this.#onEvent(directory, name));
    watcher.on("error", () => {
      this.#close(directory);
      this.#onEvent(directory, null);
    });
    this.#watched.set(directory, { watcher, identity });
  }

  #close(directory: string): void {
    this.#watched.get(directory)?.watcher.close();
    this.#watched.delete(directory);
  }
}

function identityOf(directory: string): string {
  const found = statSync(directory, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? "" : `${found.dev}:${found.ino}`;
}
