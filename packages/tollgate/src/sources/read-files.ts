import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import type { Diagnostic } from "../rules/diagnostic.ts";
import type { RuleFile } from "../rules/load.ts";
import { diagnose } from "./diagnose.ts";

/** Bytes of one file, and of all together: beyond them a file is refused before it is read. */
const MAX_FILE_SIZE = 32 * 1024 * 1024;
const MAX_TOTAL_SIZE = 256 * 1024 * 1024;

export interface ReadFiles {
  readonly files: readonly RuleFile[];
  /** Errors: what could not be read. A warning where there was nothing to read. */
  readonly diagnostics: readonly Diagnostic[];
  /** Whether a file changed, came or went while they were read, so that they may be of two different sets. */
  readonly torn: boolean;
  /** Equal for two readings of the same files with the same contents. */
  readonly fingerprint: string;
}

/** Whether a name is one of a configuration file. */
export function isRuleFile(name: string, ignoreDotFiles: boolean): boolean {
  return name.endsWith(".yaml") && !(ignoreDotFiles && name.startsWith("."));
}

/**
 * Reads the `*.yaml` files that stand directly in a directory, the ones behind symbolic links included.
 * @param directory as messages shall call it
 * @param home messages do not quote a file that a link leads to outside this directory
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
  const torn = before.dangling || before.fingerprint !== after.fingerprint;
  return { files, diagnostics, torn, fingerprint: after.fingerprint };
}

/**
 * Whether a file lies in a directory, all links followed. A link out of it may lead to a file that its author cannot
 * read but this process can: messages must not quote such a file.
 */
export async function staysInside(path: string, home: string): Promise<boolean> {
  const [file, directory] = await Promise.all([realpath(path), realpath(home)]);
  return file.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** See {@link ReadFiles.fingerprint}. */
export async function fingerprintOf(directory: string, ignoreDotFiles: boolean): Promise<string> {
  return (await survey(directory, ignoreDotFiles)).fingerprint;
}

interface Survey {
  readonly readable: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  readonly fingerprint: string;
  /** Whether a name led nowhere: it may be on its way, or on its way out. */
  readonly dangling: boolean;
}

async function survey(directory: string, ignoreDotFiles: boolean): Promise<Survey> {
  let names: string[];
  try {
    names = await readdir(directory);
  } catch (error) {
    const diagnostic = diagnose("missing-directory", directory, `cannot be listed: ${reasonOf(error)}`);
    return { readable: [], diagnostics: [diagnostic], fingerprint: "", dangling: false };
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
      // A pipe or a device could keep the reader waiting for ever.
      if (!found.isFile()) diagnostics.push(diagnose("unreadable-file", path, "is no regular file"));
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
      diagnose("ignored-file", join(directory, name), `only *.yaml files are read: call it ${right}`),
    );
  }
  if (prints.length === 0)
    diagnostics.push(diagnose("no-files", directory, "holds no *.yaml file: no domain is configured"));
  return { readable, diagnostics, fingerprint: prints.join("\n"), dangling };
}

function tooLarge(size: number): string {
  return size > MAX_FILE_SIZE
    ? `is larger than ${MAX_FILE_SIZE} bytes`
    : `is one too many: the files are larger than ${MAX_TOTAL_SIZE} bytes together`;
}

/** `EACCES: permission denied`, without the call and the path that the message of the run time repeats. */
function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === "ENOENT"
    ? "it does not exist, or is a symbolic link to nothing"
    : message.replace(/, \w+( '.*')?$/, "");
}
