import { readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { isDirectory, readOrThrow } from "./check-files.ts";
import { UsageError } from "./flags.ts";

/** The end of a test file's name. */
const SUFFIX = ".test.yaml";
const MAX_FILES = 10_000;
const MAX_DEPTH = 20;

/** The result of a search. */
export interface FoundTests {
  /** Paths as the user would write them, sorted for each argument. */
  readonly files: readonly string[];
  /** The directories that were searched. */
  readonly directories: readonly string[];
}

/**
 * Finds the test files of the given paths: each file, and the `*.test.yaml` files in each directory and below. Skips
 * `node_modules` and names that begin with a dot, and does not follow links to directories.
 * @throws {UsageError} if a path cannot be read or has no test file
 */
export function findTests(paths: readonly string[], cwd: string): FoundTests {
  const files = new Set<string>();
  const directories = new Set<string>();
  function search(directory: string, depth: number): void {
    directories.add(directory);
    const found = readOrThrow(directory, cwd, () =>
      readdirSync(resolve(cwd, directory), { withFileTypes: true }),
    );
    for (const entry of found.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(directory, entry.name);
      if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
      if (entry.isDirectory() && depth < MAX_DEPTH) search(path, depth + 1);
      else if (entry.name.endsWith(SUFFIX) && isRegularFile(resolve(cwd, path))) files.add(path);
      if (files.size > MAX_FILES) throw new UsageError(`${directory}: more than ${MAX_FILES} test files`);
    }
  }
  for (const path of paths) {
    if (!isDirectory(path, cwd)) {
      files.add(path);
      continue;
    }
    const before = files.size;
    search(path, 0);
    if (files.size === before)
      throw new UsageError(`${path}: no *${SUFFIX} file here or below; tollgate init writes an example`);
  }
  return { files: [...files], directories: [...directories] };
}

/** Whether a path leads to a file. Reading a pipe may never end. */
function isRegularFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
