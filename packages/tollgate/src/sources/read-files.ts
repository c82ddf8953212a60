import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import type { Diagnostic } from "../rules/diagnostic.ts";
import type { RuleFile } from "../rules/load-rules.ts";
import { diagnose } from "./source.ts";

/** Maximum bytes of one file and of all files together. A larger file is refused before it is read. */
const MAX_FILE_SIZE = 32 * 1024 * 1024;
const MAX_TOTAL_SIZE = 256 * 1024 * 1024;

export interface ReadFiles {
  readonly files: readonly RuleFile[];
  /** Errors for unreadable files; a warning if there are no files. */
  readonly diagnostics: readonly Diagnostic[];
  /** Whether files changed, appeared or disappeared during the read, so that they may belong to different sets. */
  readonly changed: boolean;
  /** Whether a name led to no file. The file may be about to appear or to disappear. */
  readonly dangling: boolean;
  /** Equal for two reads of the same, unchanged files. */
  readonly fingerprint: string;
}

/** Whether a name is the name of a configuration file. */
export function isRuleFile(name: string, ignoreDotFiles: boolean): boolean {
  return name.endsWith(".yaml") && !(ignoreDotFiles && name.startsWith("."));
}

/**
 * Reads the `*.yaml` files directly in a directory, including symbolic links to files.
 * @param directory the path of the directory, which also appears in messages
 * @param home messages do not quote files outside this directory, which a link can lead to
 */
export async function readRuleFiles(
  directory: string,
  ignoreDotFiles: boolean,
  home: string = directory,
): Promise<ReadFiles> {
  const before = await survey(directory, ignoreDotFiles);
  const files: RuleFile[] = [];
  const diagnostics = [...before.diagnostics];
  for (const name of before.readable) {
    const path = join(directory, name);
    try {
      const quotable = await staysInside(path, home);
      files.push({ name: path, text: await readFile(path, "utf8"), quotable });
    } catch (error) {
      diagnostics.push(diagnose("unreadable-file", path, `cannot be read: ${reasonOf(error)}`));
    }
  }
  const after = await survey(directory, ignoreDotFiles);
  const changed = before.fingerprint !== after.fingerprint;
  return { files, diagnostics, changed, dangling: before.dangling, fingerprint: after.fingerprint };
}

/**
 * Whether a file is in a directory after all links are resolved. A link can lead to a file that the author of the
 * configuration cannot read but this process can. Messages must not quote such a file.
 */
export async function staysInside(path: string, home: string): Promise<boolean> {
  const [file, directory] = await Promise.all([realpath(path), realpath(home)]);
  return file.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** See {@link ReadFiles.fingerprint}. */
export async function fingerprintOf(directory: string, ignoreDotFiles: boolean): Promise<string> {
  return (await survey(directory, ignoreDotFiles)).fingerprint;
}

/** Returns the number of bytes of all files together. */
export async function sizeOfFiles(directory: string, ignoreDotFiles: boolean): Promise<number> {
  return (await survey(directory, ignoreDotFiles)).size;
}

interface Survey {
  /** Bytes of all files together. */
  readonly size: number;
  readonly readable: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  readonly fingerprint: string;
  /** Whether a name led to no file. The file may be about to appear or to disappear. */
  readonly dangling: boolean;
}

async function survey(directory: string, ignoreDotFiles: boolean): Promise<Survey> {
  let names: string[];
  try {
    names = await readdir(directory);
  } catch (error) {
    const diagnostic = diagnose("missing-directory", directory, `cannot be listed: ${reasonOf(error)}`);
    return { readable: [], diagnostics: [diagnostic], fingerprint: "", dangling: false, size: 0 };
  }
  const readable: string[] = [];
  const diagnostics: Diagnostic[] = [];
  const prints: string[] = [];
  let dangling = false;
  let total = 0;
  for (const name of names.filter((one) => isRuleFile(one, ignoreDotFiles)).sort()) {
    const path = join(directory, name);
    try {
      const found = await stat(path, { bigint: true });
      if (found.isDirectory()) continue;
      prints.push(`${name} ${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}`);
      total += Number(found.size);
      // Reading a pipe or a device may never end.
      if (!found.isFile()) diagnostics.push(diagnose("unreadable-file", path, "is not a regular file"));
      else if (found.size > MAX_FILE_SIZE || total > MAX_TOTAL_SIZE)
        diagnostics.push(diagnose("too-large", path, tooLarge(Number(found.size))));
      else readable.push(name);
    } catch (error) {
      prints.push(`${name} -`);
      dangling = true;
      diagnostics.push(diagnose("unreadable-file", path, `cannot be read: ${reasonOf(error)}`));
    }
  }
  for (const name of names.filter((one) => one.endsWith(".yml"))) {
    const right = name.replace(/\.yml$/, ".yaml");
    diagnostics.push(
      diagnose("ignored-file", join(directory, name), `only *.yaml files are read: rename it to ${right}`),
    );
  }
  if (prints.length === 0)
    diagnostics.push(diagnose("no-files", directory, "contains no *.yaml file: no domain is configured"));
  return { readable, diagnostics, fingerprint: prints.join("\n"), dangling, size: total };
}

function tooLarge(size: number): string {
  return size > MAX_FILE_SIZE
    ? `is larger than ${MAX_FILE_SIZE} bytes`
    : `exceeds the total size of ${MAX_TOTAL_SIZE} bytes for all files together`;
}

/** Formats an error as `EACCES: permission denied`, without the system call and the path in Node's message. */
function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === "ENOENT"
    ? "it does not exist or is a broken symbolic link"
    : message.replace(/, \w+( '.*')?$/, "");
}
