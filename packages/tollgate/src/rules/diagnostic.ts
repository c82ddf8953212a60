import type { DiagnosticCode } from "./diagnostic-codes.ts";
import type { Location } from "./rule.ts";

/** An error keeps a configuration from being loaded. A warning does not. */
export type Severity = "error" | "warning";

/** An error or a probable mistake in a configuration. */
export interface Diagnostic {
  /** Whether the configuration can be loaded. */
  readonly severity: Severity;
  /** The kind of fault, for tools: `yaml-syntax`, `unknown-key` and others. */
  readonly code: DiagnosticCode;
  /** The fault and its remedy on one line, without the place. */
  readonly message: string;
  /** The place of the fault. */
  readonly location: Location;
  /** The source line of `location`, for the caret; undefined without a line (xDS, the whole file). */
  readonly sourceLine: string | undefined;
}

/** Formats a location: `file:line:column`; for xDS `resource: descriptors[2].key`. */
export function formatLocation(location: Location): string {
  if (location.line > 0) return `${location.file}:${location.line}:${location.column}`;
  return location.path === undefined || location.path === ""
    ? location.file
    : `${location.file}: ${location.path}`;
}

/**
 * Formats a diagnostic: `file:line:column: message`, with `warning: ` before the message of a warning.
 * @example
 * ```ts
 * import { formatDiagnostic, loadRules } from "@tollway/tollgate";
 *
 * const { diagnostics } = loadRules([{ name: "shop.yaml", text: "domain: shop" }], { mergeDomains: false });
 * for (const diagnostic of diagnostics) console.log(formatDiagnostic(diagnostic));
 * ```
 */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const severity = diagnostic.severity === "warning" ? "warning: " : "";
  return `${formatLocation(diagnostic.location)}: ${severity}${diagnostic.message}`;
}
