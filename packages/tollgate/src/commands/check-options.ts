import { parseArgs } from "node:util";
import { UsageError } from "./client-options.ts";

export const checkFormats = ["text", "json", "sarif", "github"] as const;
export type CheckFormat = (typeof checkFormats)[number];

/** What `tollgate check` was asked to do. */
export interface CheckOptions {
  readonly help: boolean;
  /** Directories, each a configuration of its own, and files, which make one together. As the user wrote them. */
  readonly paths: readonly string[];
  readonly mergeDomains: boolean;
  readonly strict: boolean;
  readonly format: CheckFormat;
}

export const checkUsage = `usage: tollgate check [flags] DIR...

Reads rate limit configurations as the service would, and prints every error and warning in them.
Each DIR is a configuration of its own: its *.yaml files. FILEs may be named instead; all of them make one.
One or two dashes; - and _ are alike.

  -config_dir DIR          the same as DIR
  -merge_domain_configs    several files may define one domain (MERGE_DOMAIN_CONFIG=true)
  -strict                  warnings are errors
  -format FORMAT           text (default), json, sarif (code scanning), github (annotations of a workflow)

Exit status: 0 without errors, 1 with errors, 2 when the flags are wrong or a path cannot be read.
`;

const flags = {
  "config-dir": { type: "string", multiple: true },
  "merge-domain-configs": { type: "boolean" },
  "merge-domain-config": { type: "boolean" },
  strict: { type: "boolean" },
  format: { type: "string" },
  help: { type: "boolean" },
} as const;

/** Go's flags: one dash or two, `_` where we say `-`, `=true` after a switch. Values are left alone. */
export function normaliseFlags(
  argv: readonly string[],
  known: Readonly<Record<string, { type: string }>>,
): string[] {
  return argv.map((word) => {
    const [, written, value = ""] = /^--?([a-z][a-z_-]*)(=.*)?$/s.exec(word) ?? [];
    if (written === undefined) return word;
    const name = written === "h" ? "help" : written.replaceAll("_", "-");
    const flag = Object.hasOwn(known, name) ? known[name] : undefined;
    if (flag === undefined) return word;
    if (flag.type === "boolean" && value === "=true") return `--${name}`;
    if (flag.type === "boolean" && value === "=false") return `--no-${name}`;
    return `--${name}${value}`;
  });
}

/** @throws {UsageError} */
export function parseCheckOptions(argv: readonly string[]): CheckOptions {
  const { values, positionals } = parse(argv);
  const paths = [...(values["config-dir"] ?? []), ...positionals];
  const format = values.format ?? "text";
  if (!values.help && paths.length === 0) {
    throw new UsageError("which configuration? Name its directory, as in tollgate check config/");
  }
  if (!isFormat(format)) {
    throw new UsageError(`-format ${format}: must be one of ${checkFormats.join(", ")}`);
  }
  return {
    help: values.help ?? false,
    paths,
    mergeDomains: values["merge-domain-configs"] ?? values["merge-domain-config"] ?? false,
    strict: values.strict ?? false,
    format,
  };
}

function isFormat(text: string): text is CheckFormat {
  return (checkFormats as readonly string[]).includes(text);
}

function parse(argv: readonly string[]) {
  try {
    const args = normaliseFlags(argv, flags);
    return parseArgs({ args, options: flags, strict: true, allowPositionals: true, allowNegative: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
