import { readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { Diagnostic } from "../rules/diagnostic.ts";
import type { RuleFile } from "../rules/load.ts";
import { readRuleFiles, staysInside } from "../sources/read-files.ts";
import { UsageError } from "./client-options.ts";

/** Files that are loaded together, as the service loads a directory. */
export interface ConfigurationSet {
  readonly files: readonly RuleFile[];
  /** About what is not in any file. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * The configurations that paths stand for: each directory is one, and all files are one together.
 * @throws {UsageError} when a path cannot be read
 */
export async function readConfigurations(
  paths: readonly string[],
  cwd: string,
): Promise<readonly ConfigurationSet[]> {
  const sets: ConfigurationSet[] = [];
  const single: RuleFile[] = [];
  for (const path of paths) {
    if (isDirectory(path, cwd)) sets.push(await readDirectory(path, cwd));
    else single.push(await readFile(path, cwd));
  }
  if (single.length > 0) sets.push({ files: single, diagnostics: [] });
  return sets;
}

/** As the service reads it, under the names that the user knows. */
async function readDirectory(path: string, cwd: string): Promise<ConfigurationSet> {
  const directory = resolve(cwd, path);
  const nameOf = (file: string) => join(path, relative(directory, file));
  const { files, diagnostics } = await readRuleFiles(directory, false, homeOf(directory, cwd));
  return {
    files: files.map((file) => ({ ...file, name: nameOf(file.name) })),
    diagnostics: diagnostics.map((one) => {
      return { ...one, location: { ...one.location, file: nameOf(one.location.file) } };
    }),
  };
}

async function readFile(path: string, cwd: string): Promise<RuleFile> {
  const full = resolve(cwd, path);
  const text = orUsageError(path, () => readFileSync(full, "utf8"));
  return { name: path, text, quotable: await staysInside(full, homeOf(dirname(full), cwd)) };
}

/** Files may link to each other within the working directory: it is a checkout, as a rule. */
function homeOf(directory: string, cwd: string): string {
  return `${directory}${sep}`.startsWith(`${cwd}${sep}`) ? cwd : directory;
}

function isDirectory(path: string, cwd: string): boolean {
  return orUsageError(path, () => statSync(resolve(cwd, path))).isDirectory();
}

function orUsageError<Result>(path: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const why =
      code === "ENOENT" ? "there is no such file or directory" : `it cannot be read (${code ?? error})`;
    throw new UsageError(`${path}: ${why}`);
  }
}
