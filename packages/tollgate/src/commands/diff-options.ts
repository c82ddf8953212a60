import type { LoadOptions } from "../rules/check-configs.ts";
import { parseFlags, UsageError } from "./flags.ts";
import { loadFlags, readLoadFlags } from "./load-flags.ts";

const diffFormats = ["text", "markdown", "json"] as const;
export type DiffFormat = (typeof diffFormats)[number];

/** The options of `tollgate diff`. */
export interface DiffOptions extends LoadOptions {
  readonly help: boolean;
  /** A directory of `*.yaml` files, or one file, each. */
  readonly before: string;
  readonly now: string;
  readonly format: DiffFormat;
  readonly check: boolean;
}

export const diffFlags = {
  format: { type: "string" },
  ...loadFlags,
  check: { type: "boolean" },
  help: { type: "boolean" },
} as const;

/** @throws {UsageError} */
export function parseDiffOptions(argv: readonly string[]): DiffOptions {
  const { values, positionals } = parseFlags(argv, diffFlags, true);
  const help = values.help ?? false;
  if (!help && positionals.length !== 2)
    throw new UsageError("pass two configurations, the old one first: tollgate diff OLD NEW");
  const format = diffFormats.find((one) => one === (values.format ?? "text"));
  if (format === undefined)
    throw new UsageError(`-format ${values.format}: must be one of ${diffFormats.join(", ")}`);
  const [before = "", now = ""] = positionals;
  return {
    help,
    before,
    now,
    ...readLoadFlags(values),
    format,
    check: values.check ?? false,
  };
}
