import type { Diagnostic, DiagnosticCode, Severity } from "./diagnostic.ts";
import { formatLocation } from "./diagnostic.ts";
import type { Location } from "./rule.ts";

/** A file of nothing but faults must not cost more memory than the file. */
const MAX_DIAGNOSTICS = 1000;

/** Collects the diagnostics of one load. Equal ones at one place (an alias read twice) are kept once. */
export class Report {
  readonly #found = new Map<string, Diagnostic>();
  readonly #lines = new Map<string, readonly string[]>();
  #dropped = 0;
  #errors = 0;

  /** Makes the lines of a file known, so that its diagnostics can show them. */
  addSource(file: string, lines: readonly string[]): void {
    this.#lines.set(file, lines);
  }

  error(code: DiagnosticCode, location: Location, message: string): void {
    this.#add("error", code, location, message);
  }

  warning(code: DiagnosticCode, location: Location, message: string): void {
    this.#add("warning", code, location, message);
  }

  get hasErrors(): boolean {
    return this.#errors > 0;
  }

  /** In the order of files, lines and columns. */
  finish(): readonly Diagnostic[] {
    const diagnostics = [...this.#found.values()].sort(byPlace);
    const last = diagnostics.at(-1);
    if (this.#dropped > 0 && last !== undefined) {
      const location = { file: last.location.file, line: 0, column: 0 };
      const message = `${this.#dropped} more diagnostics are not shown: repair these first`;
      const severity = this.#errors > 0 ? "error" : "warning";
      diagnostics.push({ severity, code: "too-many-diagnostics", message, location, sourceLine: undefined });
    }
    return diagnostics;
  }

  #add(severity: Severity, code: DiagnosticCode, location: Location, message: string): void {
    if (severity === "error") this.#errors++;
    if (this.#found.size >= MAX_DIAGNOSTICS) {
      this.#dropped++;
      return;
    }
    const id = `${formatLocation(location)} ${code} ${message}`;
    if (this.#found.has(id)) return;
    const sourceLine = location.line > 0 ? this.#lines.get(location.file)?.[location.line - 1] : undefined;
    this.#found.set(id, { severity, code, message, location, sourceLine });
  }
}

function byPlace(a: Diagnostic, b: Diagnostic): number {
  if (a.location.file !== b.location.file) return a.location.file < b.location.file ? -1 : 1;
  return a.location.line - b.location.line || a.location.column - b.location.column;
}
