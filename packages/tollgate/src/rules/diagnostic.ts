import type { Location } from "./rule.ts";

export type Severity = "error" | "warning";

/** Stable ids: they stand in SARIF files and in scripts, so a name is never reused for another meaning. */
export type DiagnosticCode =
  // Errors of the place that rules come from
  | "missing-directory"
  | "unreadable-file"
  | "undecodable-resource"
  // Errors
  | "yaml-syntax"
  | "invalid-utf8"
  | "too-large"
  | "too-deep"
  | "too-many-nodes"
  | "second-document"
  | "unknown-tag"
  | "unknown-alias"
  | "duplicate-yaml-key"
  | "unknown-key"
  | "misplaced-key"
  | "wrong-type"
  | "empty-domain"
  | "duplicate-domain"
  | "missing-descriptors"
  | "empty-key"
  | "duplicate-descriptor"
  | "unknown-unit"
  | "missing-unit"
  | "missing-requests-per-unit"
  | "unit-with-unlimited"
  | "bad-number"
  | "replaces-without-name"
  | "replaces-itself"
  | "replaces-cycle"
  | "share-threshold-without-wildcard"
  | "bad-metadata"
  | "too-many-diagnostics"
  // Warnings
  | "number-with-unlimited"
  | "replaces-unknown-name"
  | "null-descriptors"
  | "null-rate-limit"
  | "empty-value"
  | "never-matches"
  | "equal-wildcards"
  | "detailed-metric-on-value"
  | "duplicate-name"
  | "ignored-file"
  | "no-files";

/** One fault of a configuration, or one thing in it that is probably not meant. */
export interface Diagnostic {
  readonly severity: Severity;
  readonly code: DiagnosticCode;
  /** What is wrong and what would be right; one line, without the place. */
  readonly message: string;
  readonly location: Location;
  /** The line that `location` names, for the caret; undefined where there is none (xDS, the whole file). */
  readonly sourceLine: string | undefined;
}

/** `file:line:column`; over xDS `resource: descriptors[2].key`. */
export function formatLocation(location: Location): string {
  if (location.line > 0) return `${location.file}:${location.line}:${location.column}`;
  return location.path === undefined || location.path === ""
    ? location.file
    : `${location.file}: ${location.path}`;
}

/** `file:line:column: message`, with `warning: ` before the message of a warning. */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const severity = diagnostic.severity === "warning" ? "warning: " : "";
  return `${formatLocation(diagnostic.location)}: ${severity}${diagnostic.message}`;
}
