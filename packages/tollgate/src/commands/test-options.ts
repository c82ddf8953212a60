import { parseFlags, UsageError } from "./flags.ts";

const testFormats = ["text", "tap", "junit"] as const;
export type TestFormat = (typeof testFormats)[number];

/** The options of `tollgate test`. */
export interface TestOptions {
  readonly help: boolean;
  /** Test files and directories as the user wrote them. */
  readonly paths: readonly string[];
  /** The configuration of all test files, instead of their own. */
  readonly config: string | undefined;
  readonly format: TestFormat;
  readonly watch: boolean;
}

export const testFlags = {
  config: { type: "string" },
  format: { type: "string" },
  watch: { type: "boolean" },
  help: { type: "boolean" },
} as const;

/** @throws {UsageError} */
export function parseTestOptions(argv: readonly string[]): TestOptions {
  const { values, positionals } = parseFlags(argv, testFlags, true);
  const format = testFormats.find((one) => one === (values.format ?? "text"));
  if (format === undefined)
    throw new UsageError(`-format ${values.format}: must be one of ${testFormats.join(", ")}`);
  return {
    help: values.help ?? false,
    paths: positionals.length === 0 ? ["."] : positionals,
    config: values.config,
    format,
    watch: values.watch ?? false,
  };
}
