/** The pages of the manual that explain the errors of the commands. */
import type { BuildErrorCode } from "../build/build-error.ts";
import type { StartErrorCode } from "../routing/start-error.ts";
import type { SignatureErrorCode } from "../signature/model/signature-error.ts";

/** The address of the manual: it is published in the repository of `package.json`. */
export const MANUAL = "https://github.com/tollway/tollway/blob/main/docs/";

type Code = BuildErrorCode | SignatureErrorCode | StartErrorCode | "COMPILER_UNAVAILABLE" | "LAUNCHER";

/** The page of each code, below `MANUAL`. */
export const PAGES: Readonly<Record<Code, string>> = {
  AMBIGUOUS_MODULE: "errors.md#AMBIGUOUS_MODULE",
  AMBIGUOUS_ROUTE: "errors.md#AMBIGUOUS_ROUTE",
  BROKEN_MODULE: "errors.md#BROKEN_MODULE",
  BUNDLER_MISSING: "waymark/deployment.md#one-file",
  COMPILED_SOURCE: "waymark/manifest.md",
  COMPILER_UNAVAILABLE: "waymark/types.md#the-source-and-the-compiler",
  INVALID_OPTION: "errors.md#INVALID_OPTION",
  INVALID_PREFIX: "waymark/routing.md",
  INVALID_REFINEMENT: "waymark/arguments.md#refinements",
  INVALID_VERB: "waymark/routing.md#verbs",
  LAUNCHER: "waymark/serving.md",
  MISPLACED_VERB: "waymark/routing.md#verbs",
  MODULE_FAILED: "errors.md#MODULE_FAILED",
  NOT_BUNDLED: "errors.md#NOT_BUNDLED",
  NOT_PORTABLE: "waymark/deployment.md#what-differs",
  PREFIX_NOT_FOUND: "waymark/routing.md",
  START_FAILED: "waymark/manifest.md",
  UNKNOWN_SCHEMA_KEY: "waymark/arguments.md#schemas",
  UNREADABLE_PARAMETER: "waymark/arguments.md",
  UNREADABLE_SOURCE: "errors.md#UNREADABLE_SOURCE",
  UNREADABLE_TYPE: "waymark/types.md",
  UNSUPPORTED_MODULE: "errors.md#UNSUPPORTED_MODULE",
};

/** A message with the page of its error. An error without a code of Waymark has none. */
export function withPage(message: string, error: unknown): string {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  if (typeof code !== "string" || !Object.hasOwn(PAGES, code)) return message;
  return `${message}\ndocs: ${MANUAL}${PAGES[code as Code]}`;
}
