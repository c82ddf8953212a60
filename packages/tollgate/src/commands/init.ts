import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { INIT } from "./descriptions.ts";
import { parseFlags, UsageError } from "./flags.ts";
import { startingRules, startingTests } from "./init-files.ts";
import type { CommandIo } from "./io.ts";
import { usageOf } from "./usage.ts";

export const initFlags = { domain: { type: "string" }, help: { type: "boolean" } } as const;

/** `tollgate init`: writes a starting configuration with a test. Returns the exit status. */
export function runInit(argv: readonly string[], io: CommandIo): number {
  try {
    const { values, positionals } = parseFlags(argv, initFlags, true);
    if (values.help) {
      io.stdout.write(usageOf(INIT));
      return 0;
    }
    const [directory = "limits", ...rest] = positionals;
    if (rest.length > 0) throw new UsageError(`unexpected argument "${rest[0]}": pass one directory`);
    return write(directory, domainOf(values.domain ?? "shop"), io);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    io.stderr.write(`tollgate init: ${error.message}\nSee tollgate init --help.\n`);
    return 2;
  }
}

/** @throws {UsageError} for a domain that cannot be the name of a file, too */
function domainOf(domain: string): string {
  if (/^[a-z0-9][a-z0-9_.-]{0,62}$/i.test(domain)) return domain;
  throw new UsageError(
    `-domain ${domain}: must be 1 to 63 letters, digits, dots, dashes or underscores; the file has the same name`,
  );
}

function write(directory: string, domain: string, io: CommandIo): number {
  const config = join(directory, "config");
  const files = [
    { path: join(config, `${domain}.yaml`), text: startingRules(domain) },
    { path: join(config, `${domain}.test.yaml`), text: startingTests(domain) },
  ];
  for (const { path } of files)
    if (existsSync(resolve(io.cwd, path))) {
      io.stderr.write(`tollgate init: ${path} exists; nothing was written\n`);
      return 1;
    }
  try {
    for (const { path, text } of files) {
      const full = resolve(io.cwd, path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, text, { flag: "wx" });
      io.stdout.write(`wrote ${path}\n`);
    }
  } catch (error) {
    io.stderr.write(`tollgate init: ${(error as Error).message}\n`);
    return 1;
  }
  io.stdout.write(`
Next:
  tollgate check ${shellWord(config)}
  tollgate test ${shellWord(config)}
  RUNTIME_ROOT=${shellWord(directory)} BACKEND_TYPE=embedded tollgate serve
`);
  return 0;
}

/** A path as a word of a shell. */
function shellWord(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
