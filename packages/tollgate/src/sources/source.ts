import type { CompiledRules } from "../rules/compiled-rules.ts";
import type { Diagnostic } from "../rules/diagnostic.ts";
import { type DiagnosticCode, diagnosticCodes } from "../rules/diagnostic-codes.ts";

/** The callbacks of a source. Calls do not overlap. After `stop`, there are no more calls. */
export interface SourceEvents {
  /**
   * A load succeeded. The service uses these rules from now on. The source waits for a promise before the next call.
   * @param diagnostics warnings
   */
  onRules(compiled: CompiledRules, diagnostics: readonly Diagnostic[]): void | Promise<void>;
  /**
   * A load failed. The rules of the last successful load stay in effect.
   * @param diagnostics errors and warnings
   */
  onError(diagnostics: readonly Diagnostic[]): void | Promise<void>;
  /** A load failed with the same errors as the load before it. The source logs such loads together. */
  onRepeatedError(): void;
}

/** Loads rules, watches them for changes and reports the result of each load. */
export interface RuleSource {
  /** Loads now and after each change. */
  start(): void;
  /** Loads now, even without changes. */
  reload(): void;
  /** Closes watches, connections and timers. */
  stop(): Promise<void>;
}

/** Creates a diagnostic that concerns a whole file, directory or resource. */
export function diagnose(code: DiagnosticCode, file: string, message: string): Diagnostic {
  const { severity } = diagnosticCodes[code];
  return { severity, code, message, location: { file, line: 0, column: 0 }, sourceLine: undefined };
}
