import { type FSWatcher, statSync, type watch } from "node:fs";
import { basename, resolve } from "node:path";

interface Watched {
  readonly watcher: FSWatcher;
  /** The directory at the path when the watch began. */
  readonly identity: string;
  /** The directory itself may have been removed or moved. The watch may be dead then, even if the identity is equal. */
  isStale: boolean;
}

export interface DirectoryWatchesOptions {
  /**
   * Receives each event: an entry was written, created, renamed or removed, or has a new mode.
   * @param name the entry; null if unknown
   */
  readonly onEvent: (directory: string, name: string | null) => void;
  readonly watch: typeof watch;
  /** Whether the watches keep the process alive. */
  readonly persistent: boolean;
}

/**
 * Watches directories (inotify on Linux). A watch follows the directory, not its path: {@link update} opens a new one
 * when the path leads to another directory. File systems reuse inode numbers at once, so an equal inode does not prove
 * that the directory is still the same: an event on the directory itself also ends its watch at the next update.
 */
export class DirectoryWatches {
  readonly #watched = new Map<string, Watched>();
  readonly #options: DirectoryWatchesOptions;

  constructor(options: DirectoryWatchesOptions) {
    this.#options = options;
  }

  /**
   * Watches exactly these directories. Never throws.
   * @returns a message for each directory that cannot be watched
   */
  update(directories: ReadonlySet<string>): string[] {
    for (const [directory, { identity, isStale }] of this.#watched)
      if (!directories.has(directory) || isStale || identity !== identityOf(directory))
        this.#close(directory);
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
    const { watch, persistent, onEvent } = this.#options;
    const ownName = basename(resolve(directory));
    const watcher = watch(directory, { persistent }, (type, name) => {
      // libuv reports the end of the directory itself as the rename of an entry with the directory's name.
      if (type === "rename" && (name === null || name === ownName)) watched.isStale = true;
      onEvent(directory, name);
    });
    const watched: Watched = { watcher, identity, isStale: false };
    watcher.on("error", () => {
      if (this.#watched.get(directory) === watched) this.#close(directory);
      onEvent(directory, null);
    });
    this.#watched.set(directory, watched);
  }

  #close(directory: string): void {
    this.#watched.get(directory)?.watcher.close();
    this.#watched.delete(directory);
  }
}

/** Empty if the directory cannot be looked up: too many links, no permission, a stale network file handle. */
function identityOf(directory: string): string {
  try {
    const { dev, ino, birthtimeNs } = statSync(directory, { bigint: true });
    return `${dev}:${ino}:${birthtimeNs}`;
  } catch {
    return "";
  }
}
