import { parseArgs } from "node:util";
import { normaliseFlags, orUsageError, UsageError } from "./flags.ts";

const checkFormats = ["text", "json", "sarif", "github"] as const;
export type CheckFormat = (typeof checkFormats)[number];

/** The options of `tollgate check`. */
export interface CheckOptions {
  readonly help: boolean;
  /** Directories and files as the user wrote them. Each directory is one configuration; all files form one more. */
  readonly paths: readonly string[];
  readonly mergeDomains: boolean;
  readonly strict: boolean;
  readonly format: CheckFormat;
}

export const checkUsage = `usage: tollgate check [flags] DIR|FILE...

Checks rate limit configurations and prints all errors and warnings.
Each DIR is one configuration and contains *.yaml files. FILE arguments form one configuration together.
Flags take one or two dashes; - and _ are equivalent.

  -config_dir DIR          same as DIR
  -merge_domain_configs    allow several files to define one domain (MERGE_DOMAIN_CONFIG=true)
  -strict                  treat warnings as errors
  -format FORMAT           text (default), json, sarif (code scanning), github (annotations of a workflow)

Exit status: 0 without errors, 1 with errors, 2 for invalid flags or unreadable paths.
`;

const flags = {
  "config-dir": { type: "string", multiple: true },
  "merge-domain-configs": { type: "boolean" },
  "merge-domain-config": { type: "boolean" },
  strict: { type: "boolean" },
  format: { type: "string" },
  help: { type: "boolean" },
} as const;

/** @throws {UsageError} */
export function parseCheckOptions(argv: readonly string[]): CheckOptions {
  const { values, positionals } = parse(argv);
  const paths = [...(values["config-dir"] ?? []), ...positionals];
  const format = values.format ?? "text";
  if (!values.help && paths.length === 0) {
    throw new UsageError("no configuration given; pass its directory, for example tollgate check config/");
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
  const args = normaliseFlags(argv, flags);
  return orUsageError(() =>
    parseArgs({ args, options: flags, strict: true, allowPositionals: true, allowNegative: true }),
  );
}
