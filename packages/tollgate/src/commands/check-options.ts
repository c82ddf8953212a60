import type { LoadOptions } from "../rules/check-configs.ts";
import { parseFlags, UsageError } from "./flags.ts";
import { loadFlags, readLoadFlags } from "./load-flags.ts";

const checkFormats = ["text", "json", "sarif", "github"] as const;
export type CheckFormat = (typeof checkFormats)[number];

/** The options of `tollgate check`. */
export interface CheckOptions extends LoadOptions {
  readonly help: boolean;
  /** Directories and files as the user wrote them. Each directory is one configuration; all files form one more. */
  readonly paths: readonly string[];
  readonly strict: boolean;
  readonly format: CheckFormat;
}

export const checkFlags = {
  "config-dir": { type: "string", multiple: true },
  ...loadFlags,
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
    ...readLoadFlags(values),
    strict: values.strict ?? false,
    format,
  };
}

function isFormat(text: string): text is CheckFormat {
  return (checkFormats as readonly string[]).includes(text);
}

function parse(argv: readonly string[]) {
  return parseFlags(argv, checkFlags, true);
}
