import type { DiagnosticCode } from "./diagnostic-codes.ts";
import type { Location } from "./rule.ts";

export type Severity = "error" | "warning";

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
