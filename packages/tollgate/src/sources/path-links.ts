import { lstatSync, readlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** A name in a directory. The directory's path contains no symbolic link. */
export interface PathEntry {
  readonly directory: string;
  readonly name: string;
  readonly isLink: boolean;
}

export interface ResolvedPath {
  /** The path without symbolic links; undefined if it cannot be resolved. */
  readonly real: string | undefined;
  /** The reason why the path cannot be resolved, with the place; undefined if it can. */
  readonly fault: string | undefined;
  /** Every name that was looked up, including those in links' targets, up to a missing name. */
  readonly entries: readonly PathEntry[];
}

/** The limit of Linux. */
const MAX_LINKS = 40;

/**
 * Resolves a path name by name, like the kernel, and returns each name whose change could change the result.
 * @param from the start of a relative path: a directory whose path contains no symbolic link
 */
export function resolvePath(path: string, from?: string): ResolvedPath {
  const entries: PathEntry[] = [];
  const left = (from === undefined ? resolve(path) : path).split("/");
  let current = from ?? "/";
  let links = 0;
  const fail = (fault: string): ResolvedPath => ({ real: undefined, fault, entries });
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
          return fail(`${full} is not a directory`);
        current = full;
        continue;
      }
      if (++links > MAX_LINKS) return fail(`${full} exceeds the maximum number of symbolic links`);
      const target = readlinkSync(full);
      if (target.startsWith("/")) current = "/";
      left.unshift(...target.split("/"));
    } catch (error) {
      if (entries.at(-1)?.name !== name || entries.at(-1)?.directory !== directory)
        entries.push({ directory, name, isLink: false });
      return fail(
        (error as NodeJS.ErrnoException).code === "ENOENT"
          ? `${full} does not exist`
          : `${full} cannot be looked up: ${(error as Error).message}`,
      );
    }
  }
  return { real: current, fault: undefined, entries };
}
