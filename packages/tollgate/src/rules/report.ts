import { type Diagnostic, formatLocation } from "./diagnostic.ts";
import { type DiagnosticCode, diagnosticCodes } from "./diagnostic-codes.ts";
import { oneLine } from "./one-line.ts";
import type { Location } from "./rule.ts";
import type { Source } from "./source-text.ts";

/** Maximum diagnostics of each severity, so that a file full of faults does not fill the memory. */
const MAX_DIAGNOSTICS = 1000;

/** Maximum characters of a message. Messages quote keys and values of any length. */
const MAX_MESSAGE = 1000;

/**
 * Collects the diagnostics of one load. Keeps only one of several equal diagnostics at one place (an alias that is read
 * twice).
 */
export class Report {
  /** The names of files that could not be read. Rules that seem to be missing may be in them. */
  readonly unread = new Set<string>();
  /** The names of files that have to be read again, as a whole. The report and the rules are then incomplete. */
  readonly readAgain = new Set<string>();
  readonly #found = new Map<string, Diagnostic>();
  readonly #sources = new Map<string, Source>();
  readonly #unquotable = new Set<string>();
  readonly #counts = { error: 0, warning: 0 };

  /**
   * Adds a file, so that its diagnostics can show its lines.
   * @param quotable false: the diagnostics of the file contain none of its text
   */
  addSource(source: Source, quotable = true): void {
    if (quotable) this.#sources.set(source.name, source);
    else this.#unquotable.add(source.name);
  }

  add(code: DiagnosticCode, location: Location, text: string): void {
    const { severity, meaning } = diagnosticCodes[code];
    if (this.#counts[severity] >= MAX_DIAGNOSTICS) {
      this.#counts[severity]++;
      return;
    }
    const message = this.#unquotable.has(location.file)
      ? `${meaning} Details are hidden because the file is a link to another directory: check the file itself.`
      : oneLine(text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}...` : text);
    const id = `${formatLocation(location)} ${code} ${message}`;
    if (this.#found.has(id)) return;
    this.#counts[severity]++;
    const sourceLine = location.line > 0 ? this.#sources.get(location.file)?.line(location.line) : undefined;
    this.#found.set(id, { severity, code, message, location, sourceLine });
  }

  get isEmpty(): boolean {
    return this.#found.size === 0;
  }

  get hasErrors(): boolean {
    return this.#counts.error > 0;
  }

  /** Returns the diagnostics in the order of files, lines and columns. */
  finish(): readonly Diagnostic[] {
    const diagnostics = [...this.#found.values()].sort(byPlace);
    const last = diagnostics.at(-1);
    const dropped = this.#counts.error + this.#counts.warning - this.#found.size;
    if (dropped > 0 && last !== undefined) {
      const location = { file: last.location.file, line: 0, column: 0 };
      const message = `${dropped} more diagnostics are not shown: fix these first`;
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
