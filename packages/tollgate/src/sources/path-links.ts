import { lstatSync, readlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** A name in a directory. The directory's path holds no symbolic link. */
export interface PathEntry {
  readonly directory: string;
  readonly name: string;
  readonly isLink: boolean;
}

export interface ResolvedPath {
  /** The path without symbolic links; undefined where it leads nowhere. */
  readonly real: string | undefined;
  /** Why it leads nowhere, and where it ends: for a message. */
  readonly fault: string | undefined;
  /** Every name that was looked up on the way, links' targets included, up to the one that is missing. */
  readonly entries: readonly PathEntry[];
}

/** As many as Linux follows. */
const MAX_LINKS = 40;

/**
 * Follows a path name by name, the way that the kernel does, and tells each name whose change would change the result.
 * @param from a directory without symbolic links on the way to it, which a relative path begins in
 */
export function resolvePath(path: string, from?: string): ResolvedPath {
  const entries: PathEntry[] = [];
  const left = (from === undefined ? resolve(path) : path).split("/");
  let current = from ?? "/";
  let links = 0;
  const nowhere = (fault: string): ResolvedPath => ({ real: undefined, fault, entries });
  for (let name = left.shift(); name !== undefined; name = left.shift()) {
    if (name === "" || name === ".") continue;
    if (name === "..") {
      current = dirname(current);
      continue;
    }
    const full = join(current, name);
    const directory = current;
    try {
      const found = lstatSync(full);
      entries.push({ directory, name, isLink: found.isSymbolicLink() });
      if (!found.isSymbolicLink()) {
        if (left.some((rest) => rest !== "") && !found.isDirectory())
          return nowhere(`${full} is no directory`);
        current = full;
        continue;
      }
      if (++links > MAX_LINKS) return nowhere(`${full} leads through too many symbolic links`);
      const target = readlinkSync(full);
      if (target.startsWith("/")) current = "/";
      left.unshift(...target.split("/"));
    } catch (error) {
      if (entries.at(-1)?.name !== name || entries.at(-1)?.directory !== directory)
        entries.push({ directory, name, isLink: false });
      return nowhere(
        (error as NodeJS.ErrnoException).code === "ENOENT"
          ? `${full} does not exist`
          : `${full} cannot be looked up: ${(error as Error).message}`,
      );
    }
  }
  return { real: current, fault: undefined, entries };
}
