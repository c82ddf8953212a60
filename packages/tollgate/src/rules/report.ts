import { type Diagnostic, formatLocation } from "./diagnostic.ts";
import { type DiagnosticCode, diagnosticCodes } from "./diagnostic-codes.ts";
import { oneLine } from "./one-line.ts";
import type { Location } from "./rule.ts";

/** Of each severity: a file of nothing but faults must not cost more memory than the file. */
const MAX_DIAGNOSTICS = 1000;

/** Messages quote keys and values, which may be of any length. */
const MAX_MESSAGE = 1000;

/** Collects the diagnostics of one load. Equal ones at one place (an alias read twice) are kept once. */
export class Report {
  readonly #found = new Map<string, Diagnostic>();
  readonly #lines = new Map<string, readonly string[]>();
  readonly #unquotable = new Set<string>();
  readonly #counts = { error: 0, warning: 0 };

  /**
   * Makes the lines of a file known, so that its diagnostics can show them.
   * @param quotable false: the diagnostics of the file say where and what is wrong without any of its text
   */
  addSource(file: string, lines: readonly string[], quotable = true): void {
    if (quotable) this.#lines.set(file, lines);
    else this.#unquotable.add(file);
  }

  add(code: DiagnosticCode, location: Location, text: string): void {
    const { severity, meaning } = diagnosticCodes[code];
    if (this.#counts[severity] >= MAX_DIAGNOSTICS) {
      this.#counts[severity]++;
      return;
    }
    const message = this.#unquotable.has(location.file)
      ? `${meaning} No details are shown, because the file is a link out of its directory: check the file itself.`
      : oneLine(text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}...` : text);
    const id = `${formatLocation(location)} ${code} ${message}`;
    if (this.#found.has(id)) return;
    this.#counts[severity]++;
    const sourceLine = location.line > 0 ? this.#lines.get(location.file)?.[location.line - 1] : undefined;
    this.#found.set(id, { severity, code, message, location, sourceLine });
  }

  get hasErrors(): boolean {
    return this.#counts.error > 0;
  }

  /** In the order of files, lines and columns. */
  finish(): readonly Diagnostic[] {
    const diagnostics = [...this.#found.values()].sort(byPlace);
    const last = diagnostics.at(-1);
    const dropped = this.#counts.error + this.#counts.warning - this.#found.size;
    if (dropped > 0 && last !== undefined) {
      const location = { file: last.location.file, line: 0, column: 0 };
      const message = `${dropped} more diagnostics are not shown: repair these first`;
      diagnostics.push({
        severity: "warning",
        code: "too-many-diagnostics",
        message,
        location,
        sourceLine: undefined,
      });
    }
    return diagnostics;
  }
}

function byPlace(a: Diagnostic, b: Diagnostic): number {
  if (a.location.file !== b.location.file) return a.location.file < b.location.file ? -1 : 1;
  return a.location.line - b.location.line || a.location.column - b.location.column;
}
