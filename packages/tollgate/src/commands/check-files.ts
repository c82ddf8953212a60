import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import type { Diagnostic } from "../rules/diagnostic.ts";
import { isTestFile, type RuleFile } from "../rules/load-rules.ts";
import { nearest } from "../rules/nearest.ts";
import { readRuleFiles, staysInside } from "../sources/read-files.ts";
import { UsageError } from "./flags.ts";
import type { CommandIo } from "./io.ts";

/** Files that are loaded together, like a directory of the service. */
export interface ConfigurationSet {
  readonly files: readonly RuleFile[];
  /** Diagnostics that do not concern the content of a file. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads the configurations of the given paths. Each directory is one configuration; all files form one more.
 * @throws {UsageError} if a path cannot be read
 */
export async function readConfigurations(
  paths: readonly string[],
  { cwd, stdin }: Pick<CommandIo, "cwd" | "stdin">,
): Promise<readonly ConfigurationSet[]> {
  const sets: ConfigurationSet[] = [];
  const single: RuleFile[] = [];
  for (const path of paths) {
    if (path === "-") single.push(await readInput(stdin));
    else if (isDirectory(path, cwd)) sets.push(await readDirectory(path, cwd));
    else single.push(await readFile(path, cwd));
  }
  // A pattern of the shell, `config/*.yaml`, finds the tests beside the rules, too.
  const files = single.filter((file) => !isTestFile(file));
  if (single.length > 0) sets.push({ files, diagnostics: [] });
  return sets;
}

/** Maximum bytes of standard input. */
const MAX_INPUT = 64 * 1024 * 1024;

async function readInput(stdin: CommandIo["stdin"]): Promise<RuleFile> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin ?? []) {
    chunks.push(Buffer.from(chunk as Uint8Array));
    size += chunk.length;
    if (size > MAX_INPUT) throw new UsageError(`-: standard input is larger than ${MAX_INPUT} bytes`);
  }
  return { name: "<standard input>", text: Buffer.concat(chunks).toString("utf8"), quotable: true };
}

/** Reads a directory like the service, with file names relative to the path that the user gave. */
async function readDirectory(path: string, cwd: string): Promise<ConfigurationSet> {
  const directory = resolve(cwd, path);
  const nameOf = (file: string) => join(path, relative(directory, file));
  const { files, diagnostics } = await readRuleFiles(directory, false, homeOf(directory, cwd));
  return {
    files: files.filter((file) => !isTestFile(file)).map((file) => ({ ...file, name: nameOf(file.name) })),
    diagnostics: diagnostics.map((one) => {
      return { ...one, location: { ...one.location, file: nameOf(one.location.file) } };
    }),
  };
}

async function readFile(path: string, cwd: string): Promise<RuleFile> {
  const full = resolve(cwd, path);
  const text = readOrThrow(path, cwd, () => readFileSync(full, "utf8"));
  return { name: path, text, quotable: await staysInside(full, homeOf(dirname(full), cwd)) };
}

/** Links within the working directory are allowed, because it is usually a checkout. */
function homeOf(directory: string, cwd: string): string {
  return `${directory}${sep}`.startsWith(`${cwd}${sep}`) ? cwd : directory;
}

export function isDirectory(path: string, cwd: string): boolean {
  return readOrThrow(path, cwd, () => statSync(resolve(cwd, path))).isDirectory();
}

export function readOrThrow<Result>(path: string, cwd: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const why =
      code === "ENOENT"
        ? `no such file or directory; ${suggestion(path, cwd)}`
        : `cannot be read (${code ?? error})`;
    throw new UsageError(`${path}: ${why}`);
  }
}

/** A suggestion for a path that does not exist. */
function suggestion(path: string, cwd: string): string {
  const parent = dirname(resolve(cwd, path));
  try {
    const near = nearest(basename(path), readdirSync(parent));
    if (near !== undefined) return `did you mean ${join(dirname(path), near)}?`;
    return "pass the folder that contains your *.yaml files, or one of the files";
  } catch {
    return `${parent} does not exist, either: check the path from ${cwd}`;
  }
}
