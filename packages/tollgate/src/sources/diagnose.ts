import type { Diagnostic } from "../rules/diagnostic.ts";
import { type DiagnosticCode, diagnosticCodes } from "../rules/diagnostic-codes.ts";

/** A diagnostic about a file, directory or resource as a whole. */
export function diagnose(code: DiagnosticCode, file: string, message: string): Diagnostic {
  const { severity } = diagnosticCodes[code];
  return { severity, code, message, location: { file, line: 0, column: 0 }, sourceLine: undefined };
}
