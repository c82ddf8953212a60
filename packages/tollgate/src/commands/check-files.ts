import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { Diagnostic } from "../rules/diagnostic.ts";
import type { RuleFile } from "../rules/load.ts";
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
export function readConfigurations(paths: readonly string[], cwd: string): readonly ConfigurationSet[] {
  const sets: ConfigurationSet[] = [];
  const single: RuleFile[] = [];
  for (const path of paths) {
    if (isDirectory(path, cwd)) sets.push(readDirectory(path, cwd));
    else single.push(readFile(path, cwd));
  }
  if (single.length > 0) sets.push({ files: single, diagnostics: [] });
  return sets;
}

function readDirectory(path: string, cwd: string): ConfigurationSet {
  const names = orUsageError(path, () => readdirSync(resolve(cwd, path))).sort();
  const isFile = (name: string) => !isDirectory(join(path, name), cwd);
  const read = names.filter((name) => name.endsWith(".yaml") && isFile(name));
  const diagnostics: Diagnostic[] = [];
  for (const name of names) {
    if (!name.endsWith(".yml") || !isFile(name)) continue;
    const right = `${basename(name, ".yml")}.yaml`;
    diagnostics.push(
      warning("ignored-file", join(path, name), `only *.yaml files are read: call it ${right}`),
    );
  }
  if (read.length === 0) {
    const message = "no *.yaml file is in this directory: no domain is configured, and nothing is limited";
    diagnostics.push(warning("no-files", path, message));
  }
  return { files: read.map((name) => readFile(join(path, name), cwd)), diagnostics };
}

function warning(code: "ignored-file" | "no-files", file: string, message: string): Diagnostic {
  return {
    severity: "warning",
    code,
    message,
    location: { file, line: 0, column: 0 },
    sourceLine: undefined,
  };
}

function readFile(path: string, cwd: string): RuleFile {
  return { name: path, text: orUsageError(path, () => readFileSync(resolve(cwd, path), "utf8")) };
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
