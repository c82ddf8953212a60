import type { Diagnostic } from "../rules/diagnostic.ts";
import { DIAGNOSTICS_PAGE, MANUAL, pageOfDiagnostic } from "../text/manual.ts";

/** With more pages than this, only their common page is named. */
const MOST = 3;

/**
 * The addresses of pages of the manual, a line each, without repetition.
 * @param common the page to name instead of many
 */
export function docsLines(pages: readonly string[], common: string): string[] {
  const different = new Set(pages);
  return [...(different.size > MOST ? [common] : different)].map((page) => `docs: ${MANUAL}${page}`);
}

/** The addresses of what the manual says about diagnostics. */
export function docsOfDiagnostics(diagnostics: readonly Diagnostic[]): string[] {
  return docsLines(
    diagnostics.map(({ code }) => pageOfDiagnostic(code)),
    DIAGNOSTICS_PAGE,
  );
}
